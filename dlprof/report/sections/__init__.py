"""Sections of the report of a run on a terminal: each a function that prints to a page."""
