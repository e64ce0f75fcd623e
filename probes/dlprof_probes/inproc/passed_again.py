"""Whether an epoch is given the same memory again and again: batches that are views of an array which lives on.

Where they lie is looked at, never what is in them; a batch that is an array of its own tells nothing, because memory
that was let go is used again.
"""

import weakref

_ARRAYS = ("ndarray", "memmap")
_TOLD_AT = (64, 256, 1024, 4096, 16384)
"""After so many batches what is known is told: nobody says when the last epoch ends. The last one ends it."""


class Passed(object):
    """Batches of the first epoch of a loop."""

    __slots__ = ("_distinct", "_epoch", "_owners", "_places", "batches", "views")

    def __init__(self):
        self._epoch = None
        self._owners = {}
        self._places = {}
        self.batches = self.views = self._distinct = 0

    def given(self, batch, epoch):
        """A batch comes. Gives what there is to tell, or None, and whether another batch is wanted.

        Args:
            batch: The batch, or inputs and targets.
            epoch: The index of the epoch; None: none has begun yet, the batch is fetched ahead.
        """
        if self._epoch is None:
            self._epoch = epoch
        if epoch is not None and epoch != self._epoch:
            return self._facts(), False
        self.batches += 1
        self._add(_first_array(batch))
        is_last = self.batches >= _TOLD_AT[-1]
        return (self._facts() if self.batches in _TOLD_AT else None), not is_last

    def _add(self, array):
        owner = _owner(array)
        if owner is None:
            return
        known = self._owners.get(id(owner))
        if known is None or known() is not owner:  # another array has taken its place
            self._owners[id(owner)] = weakref.ref(owner)
            self._places[id(owner)] = set()
        self.views += 1
        place, places = (array.__array_interface__["data"][0], array.nbytes), self._places[id(owner)]
        if place not in places:
            places.add(place)
            self._distinct += 1

    def _facts(self):
        """Batches, those of them that are views, and how many different places these lie in."""
        return {"passed": {"batches": self.batches, "views": self.views, "distinct": self._distinct}}


def _first_array(batch):
    """The first array of a batch: of inputs and targets, lists or dictionaries of these."""
    while isinstance(batch, (tuple, list, dict)) and batch:
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return batch


def _owner(array):
    """The array of NumPy that holds the memory of a view, if it holds more; None: it is no view."""
    if type(array).__module__ != "numpy" or type(array).__name__ not in _ARRAYS:
        return None
    owner = array.base
    while type(getattr(owner, "base", None)).__name__ in _ARRAYS:
        owner = owner.base
    if type(owner).__name__ not in _ARRAYS or owner.nbytes <= array.nbytes:
        return None
    return owner
