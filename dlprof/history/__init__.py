"""A benchmark over the commits of a repository: in which of them its measures changed, and in which part of the run."""
