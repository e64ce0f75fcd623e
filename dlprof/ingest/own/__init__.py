"""Readers of the artifacts of our own probes: one file per artifact, each from a file to the tables of the schema."""
