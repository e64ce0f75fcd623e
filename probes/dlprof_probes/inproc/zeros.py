"""Large matrices that hold hardly anything but zeros: what a script has at hand where it trains, such as an adjacency.

Of each some thousand numbers from all over it are looked at.
"""

import sys

from dlprof_probes.inproc import facts, host_arrays
from dlprof_probes.inproc.inferred.sites import names_in, objects_in

_MATRICES = 32
_LEAST = 1 << 20
"""Numbers; a product with a smaller matrix takes no time."""
_NUMBERS = 4096
"""That are looked at; rows and columns go on by primes, so that a diagonal has no more than its part in them."""
_ROWS_ON, _COLUMNS_ON = 7919, 104729
_MOSTLY = 0.98


def at_hand(frames):
    """Matrices that the frames hold, and objects that these hold.

    Returns:
        list: Of each that is mostly zeros a dict of `name`, `shape` and `zeros`, their share of what was looked at.
    """
    found, seen = [], set()
    for frame in frames:
        for name, value in objects_in(names_in(frame)):
            shape = facts.quiet(lambda value=value: _shape_of(value))
            if shape is None or id(value) in seen or len(seen) >= _MATRICES:
                continue
            seen.add(id(value))
            zeros = facts.quiet(lambda value=value: _share_of_zeros(value))
            if zeros is not None and zeros >= _MOSTLY:
                found.append({"name": name, "shape": list(shape), "zeros": zeros})
    return found


def _shape_of(value):
    """The shape of a large matrix of floats, which is one that is written out; None: it is none."""
    if not host_arrays.may_be(value, waits=True):  # once in a loop
        return None
    shape, layout = getattr(value, "shape", None), str(getattr(value, "layout", "strided"))
    if shape is None or len(shape) != 2 or "float" not in str(getattr(value, "dtype", "")) or "sparse" in layout:
        return None
    rows, columns = int(shape[0]), int(shape[1])
    return (rows, columns) if rows * columns >= _LEAST else None


def _share_of_zeros(value):
    view = None if host_arrays.is_of_file(value) else host_arrays.view_of(value)
    if view is None:
        return None
    numpy = sys.modules["numpy"]
    turns = numpy.arange(_NUMBERS)
    part = view[turns * _ROWS_ON % view.shape[0], turns * _COLUMNS_ON % view.shape[1]]
    return 1.0 - float(numpy.count_nonzero(part)) / _NUMBERS
