"""A run, or a comparison, as one self-contained HTML page."""
