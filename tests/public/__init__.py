"""Scripts that others published, run bare and traced: where to get each, how it was shortened, what is to be told of it."""
