"""Notebooks: runs as pandas objects, what they show of themselves, plots, and the cell magic."""
