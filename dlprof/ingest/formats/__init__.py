"""Formats of traces, our own windows and those of other profilers: one file each, which ends in its `READER`."""
