"""A run on one axis of time: slices on tracks, and series, for everything that draws or exports them."""
