"""A package of helpers of which a script needs few, but gets all."""

from heavy_imports import primes, tables, words

__all__ = ["primes", "tables", "words"]
