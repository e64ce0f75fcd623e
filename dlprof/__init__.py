"""dlprof: deep profiling and tracing of Keras training, on every backend.

This package is the conductor and the analyser. What runs inside and beside the traced
process lives in the separate package `dlprof_probes` (folder `probes/`).
"""

__version__ = "0.1.0.dev0"
