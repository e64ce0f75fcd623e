"""Benchmarks: scenarios x backends x repeats, in random order, resumable, as one table."""
