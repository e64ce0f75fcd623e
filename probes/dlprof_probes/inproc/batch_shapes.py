"""Shapes of batches that a script gives `train_on_batch` and its kin: steps of unequal batches are no equal work."""

_MOST = 64
"""Shapes that are told apart; all others count as one."""
_FIRST = 32


class BatchShapes(object):
    """Counts batches by shape, and says from time to time how many are not of the usual one.

    Args:
        tell: Function of a dict: adds to what is told of the loop.
    """

    __slots__ = ("_counts", "_next", "_tell", "_total")

    def __init__(self, tell):
        self._tell = tell
        self._counts = {}
        self._total = 0
        self._next = _FIRST

    def seen(self, batch):
        """One more. Hot: no more work than needed."""
        counts, shape = self._counts, getattr(batch, "shape", None)
        key = tuple(shape) if shape is not None else None
        if key not in counts and len(counts) >= _MOST:
            key = None
        counts[key] = counts.get(key, 0) + 1
        self._total += 1
        if self._total >= self._next:
            self._next *= 2
            if len(counts) > 1:
                self._tell({"unusual_batches": [self._total - max(counts.values()), self._total]})
