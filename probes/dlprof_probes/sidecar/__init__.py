"""Probes beside the traced process: cores and processes, GPUs, Python stacks. Python >= 3.11."""
