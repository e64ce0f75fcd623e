"""The exam of the rules: scripts with a planted cause, run with it and without, and what the diagnosis makes of it."""
