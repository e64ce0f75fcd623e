"""The engines that train: one file each, which says all that launch, ingest and analysis must know of it.

What runs inside the traced process is the other half of an engine's home: `dlprof_probes/inproc/engines/NAME.py`.
"""
