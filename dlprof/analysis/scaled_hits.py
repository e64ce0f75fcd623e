"""What hits can tell that were counted in windows and scaled to the time between them."""

from __future__ import annotations

OFF = 4
"""How many times too few, or too many, they may be."""


def significant(value: float, digits: int) -> int:
    """A number with so many significant digits, the others 0: `71304` with two of them is `71000`."""
    return int(float(f"{value:.{digits - 1}e}"))


def estimate(value: float, hits: int) -> int:
    """A figure that is made of scaled hits: it has as many digits as these, two at most."""
    return significant(value, min(2, len(str(hits).rstrip("0"))) or 1)
