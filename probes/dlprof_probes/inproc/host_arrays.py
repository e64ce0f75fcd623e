"""Arrays of all engines as arrays of NumPy, where their numbers are in the host's memory."""

import sys

_OF_ENGINES = frozenset(("numpy", "torch", "tensorflow", "jaxlib", "jax"))
_THAT_WAIT = frozenset(("mxnet",))
"""Who looks at an array of these waits until what writes it is over."""


def may_be(value, waits=False):
    """Whether it is of a class of an engine's, or of NumPy's: others may do whatever they like when asked.

    Args:
        value: Anything.
        waits: Those count, too, that are waited for when they are looked at.
    """
    engine = type(value).__module__.split(".")[0]
    return engine in _OF_ENGINES or (waits and engine in _THAT_WAIT)


def view_of(array):
    """The same numbers, without a copy and, but for those that `may_be` leaves out, without a wait; None: elsewhere.

    Raises:
        Exception: Whatever an array says that is no memory of the host, or is gone.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(array, numpy.ndarray):
        return array
    engine = type(array).__module__.split(".")[0]
    if engine == "torch":
        return numpy.from_dlpack(array.detach()) if array.device.type == "cpu" else None
    if engine == "mxnet":
        on_host = array.context.device_type == "cpu" and array.stype == "default"
        return numpy.from_dlpack(_Capsule(array.to_dlpack_for_read())) if on_host else None
    if engine == "tensorflow" and "CPU" not in str(array.device):  # it would be copied from there
        return None
    return numpy.asarray(memoryview(array))


class _Capsule(object):
    """What NumPy asks for an array's numbers, of an engine that gives them away in the way of before."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_settings):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0  # the host's memory


def is_of_file(array):
    """Whether an array of NumPy is a file that is mapped into memory: to look all over it may read the file."""
    while array is not None:
        if type(array).__name__ in ("memmap", "mmap"):
            return True
        array = getattr(array, "base", None)
    return False
