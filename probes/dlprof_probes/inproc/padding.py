"""How much of batches of sequences is padding: one number that fills up the ends, or the beginnings, of all their rows.

A few batches are looked at, and of these only arrays of whole numbers with two dimensions: rows of word numbers.
Whether they are such is told elsewhere, by the layers that read them.
"""

import sys
from weakref import ref

from dlprof_probes.inproc import facts, host_arrays

_LOOKED_AT = 8
"""Batches."""
_ROWS = 32
"""Rows of an array of all data that stand for a batch."""
_ARRAYS = 8
_LEAST_ROWS, _LEAST_LENGTH = 4, 8
_MOST_NUMBERS = 4 << 20
"""A larger batch is not looked at: that would take longer than a blink."""


class Padding(object):
    """Batches that were looked at.

    Attributes:
        left: How many more are wanted.
    """

    __slots__ = ("_batches", "_columns", "_in_all", "_of_rows", "_there", "left")

    def __init__(self):
        self.left = _LOOKED_AT
        self._batches = self._columns = 0
        self._in_all = self._of_rows = 0.0
        self._there = None

    def see(self, batch):
        """Look at a batch: arrays in lists, tuples and dictionaries; the longest rows in it count.

        Gives whether it had any.
        """
        self.left -= 1
        read = [facts.quiet(lambda one=one: _numbers(one)) for one in arrays_in(batch)]
        found = [one for one in read if one is not None]
        if found:
            self._add(max(found, key=lambda one: one.shape[1]))
        return bool(found)

    def see_made(self, values):
        """Look at arrays that were made since the last such look: a batch, not all the data that it was taken from.

        Gives whether there was any.
        """
        arrays = [one for one in values if host_arrays.may_be(one)]
        # A symbol of a graph may not know its shape, and then says so by an error.
        rows = [one for one in arrays if facts.quiet(lambda one=one: _is_rows(one))]
        # By references: the place of an array that is gone is the next one's.
        before, self._there = self._there, [facts.quiet(lambda one=one: ref(one)) for one in rows]
        there = [held() for held in before or () if held is not None]
        return before is not None and self.see([one for one in rows if not any(one is old for old in there)])

    def see_all(self, arrays):
        """Look at arrays of all data: rows from all over them stand for batches.

        Only at those of NumPy: to take rows of others may compile something, or read a file from end to end.
        """
        arrays = [one for one in arrays if type(one).__module__ == "numpy" and _is_rows(one)]
        for start in range(self.left):
            self.see([one[start :: max(1, len(one) // _ROWS)] for one in arrays])

    def _add(self, numbers):
        numpy = sys.modules["numpy"]
        length = numbers.shape[1]
        runs = max((_runs(numpy, side) for side in (numbers, numbers[:, ::-1])), key=lambda runs: runs.mean())
        self._batches += 1
        self._columns += length
        self._in_all += int(runs.min())
        self._of_rows += float(runs.mean())

    def facts(self):
        """What was seen; None: no batch had rows of whole numbers.

        Returns:
            dict: `batches` that were looked at, their mean `length` (columns), and shares of columns that are padding:
            `in_all` rows of a batch, and `of_rows` by themselves, as a mean.
        """
        if not self._batches:
            return None
        columns = float(self._columns)
        return {
            "batches": self._batches,
            "length": columns / self._batches,
            "in_all": self._in_all / columns,
            "of_rows": self._of_rows / columns,
        }


def _runs(numpy, numbers):
    """How many numbers at the end of each row are the one that most rows end with."""
    values, counts = numpy.unique(numbers[:, -1], return_counts=True)
    others = numbers[:, ::-1] != values[counts.argmax()]
    return numpy.where(others.any(axis=1), others.argmax(axis=1), numbers.shape[1])


def arrays_in(batch, depth=2):
    """The first arrays in a batch."""
    if isinstance(batch, dict) or hasattr(batch, "keys"):
        batch = list(batch.values())
    if not isinstance(batch, (tuple, list)):
        return [batch]
    return [one for inner in batch[:_ARRAYS] for one in (arrays_in(inner, depth - 1) if depth else [inner])][:_ARRAYS]


def _is_rows(array):
    """Whether it has rows of whole numbers."""
    shape = getattr(array, "shape", None)
    if shape is None or len(shape) != 2 or "int" not in str(getattr(array, "dtype", "")):
        return False
    return int(shape[0]) >= _LEAST_ROWS and int(shape[1]) >= _LEAST_LENGTH


def _numbers(array):
    """The same numbers as an array of NumPy (`host_arrays`); None: they are no rows, or not in the host's memory."""
    if not _is_rows(array) or int(array.shape[0]) * int(array.shape[1]) > _MOST_NUMBERS:
        return None
    return host_arrays.view_of(array)
