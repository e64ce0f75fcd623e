"""Kernel windows: the engine's own tracer runs for some steady steps of a loop, between plain steps.

`windows.py` decides when; the tracer of each engine (`tracer.py`, `engines/`) is switched on and off.
"""
