"""Analyses: pure functions from a stored run to figures. No printing, no files."""
