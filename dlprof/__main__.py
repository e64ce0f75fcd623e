"""`python -m dlprof` and the `dlprof` command."""
