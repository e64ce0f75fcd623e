"""Bootstrap intervals over runs."""

from __future__ import annotations

import numpy as np

from dlprof.analysis.columns import Floats

RESAMPLES = 2000
_SEED = 1


def difference_of_means(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """95 % interval of mean(a) - mean(b), by drawing runs again and again from those there are.

    Drawing from n runs shows a spread that is too small by sqrt(1 - 1/n): it is widened by that.

    Args:
        a: Shape (runs, measures), at least two runs.
        b: Likewise, of the same measures.

    Returns:
        Lower and upper ends, each of shape (measures,).
    """
    draw = np.random.default_rng(_SEED)
    spreads = []
    for table in (a, b):
        chosen = draw.integers(0, len(table), (RESAMPLES, len(table)))
        spread = table[chosen].mean(axis=1) - table.mean(axis=0)
        spreads.append(spread * np.sqrt(len(table) / (len(table) - 1)))
    middle = a.mean(axis=0) - b.mean(axis=0)
    low, high = np.percentile(spreads[0] - spreads[1], (2.5, 97.5), axis=0)
    return middle + low, middle + high
