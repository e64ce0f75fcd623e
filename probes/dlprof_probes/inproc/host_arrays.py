"""Arrays of all engines as arrays of NumPy, where their numbers are in the host's memory."""

import sys

_OF_ENGINES = frozenset(("numpy", "torch", "tensorflow", "jaxlib", "jax"))


def may_be(value):
    """Whether it is of a class of an engine's, or of NumPy's: others may do whatever they like when asked."""
    return type(value).__module__.split(".")[0] in _OF_ENGINES


def view_of(array):
    """The same numbers, without a copy and without a wait for a device; None: they are elsewhere.

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
    if engine == "tensorflow" and "CPU" not in str(array.device):  # it would be copied from there
        return None
    return numpy.asarray(memoryview(array))


def is_of_file(array):
    """Whether an array of NumPy is a file that is mapped into memory: to look all over it may read the file."""
    while array is not None:
        if type(array).__name__ in ("memmap", "mmap"):
            return True
        array = getattr(array, "base", None)
    return False
