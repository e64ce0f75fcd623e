"""Kernel windows: the engine's own tracer runs for some steady steps of a loop, between plain steps.

`windows.py` decides when; one file per engine switches its tracer on and off.
"""
