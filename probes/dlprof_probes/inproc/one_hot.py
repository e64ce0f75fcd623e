"""Arrays of batches whose rows have a single 1 each and zeros beside it: a product with these only picks rows.

A few batches are looked at, and of these some rows of each array of floats.
"""

import sys

from dlprof_probes.inproc import facts, host_arrays
from dlprof_probes.inproc.padding import arrays_in

_LOOKED_AT = 4
"""Batches."""
_ROWS = 64
_LEAST = 64
"""Columns; to multiply fewer costs little."""


class OneHot(object):
    """What was seen of batches.

    Attributes:
        left: How many more are wanted.
    """

    __slots__ = ("_others", "_seen", "left")

    def __init__(self):
        self.left = _LOOKED_AT
        self._seen, self._others = set(), set()

    def see(self, batch):
        """Look at a batch: arrays in lists, tuples and dictionaries. Gives whether it had one that may be one-hot."""
        self.left -= 1
        found = False
        for array in arrays_in(batch):
            is_one = facts.quiet(lambda array=array: _is_one_hot(array))
            if is_one is not None:
                (self._seen if is_one else self._others).add(int(array.shape[-1]))
                found = found or is_one
        return found

    def facts(self):
        """Columns of the arrays that were one-hot in each batch that was looked at: a list, in their order."""
        return sorted(self._seen - self._others)


def _is_one_hot(array):
    """Whether it is; None: it is no array that may be, or not in the host's memory. Rows of zeros alone are padding."""
    shape = getattr(array, "shape", None)
    if shape is None or len(shape) < 2 or int(shape[-1]) < _LEAST or "float" not in str(getattr(array, "dtype", "")):
        return None
    view = host_arrays.view_of(array)
    if view is None:
        return None
    numpy = sys.modules["numpy"]
    rows = view.reshape(-1, view.shape[-1])[:_ROWS] if view.flags.c_contiguous else None
    if rows is None or not len(rows):
        return None
    counts = numpy.count_nonzero(rows, axis=1)
    return bool(counts.max() == 1 and (rows[counts == 1].max(axis=1) == 1).all() and 2 * counts.sum() >= len(rows))
