"""Readers of raw artifacts: one file per format, each from a file to the tables of the schema."""
