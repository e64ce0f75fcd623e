"""Scripts under faults, each run bare and under dlprof, and compared: `python -m tests.conformance`."""
