"""A screen on the terminal that shows a run while it goes on (`dlprof trace --live`)."""
