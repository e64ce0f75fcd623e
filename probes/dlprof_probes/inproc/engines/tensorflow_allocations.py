"""Records of TensorFlow's allocator on CPUs, in the traces of its profiler.

The allocator that comes with oneDNN leaves them in each trace. The plain one does where its statistics are on: they
are switched on when a trace begins, and off when it ends, by the functions that TensorFlow's library has for that.
"""

from os import RTLD_LAZY, RTLD_NOLOAD
from os.path import dirname, join

_LIBRARY = "libtensorflow_framework.so.2"
_SPACES = ("3tsl", "10tensorflow")
"""Namespaces, as symbols have them; TensorFlow 2.11 and older have the second."""


class AllocationRecords(object):
    """Switches them on and off; where a version has no such functions, or the program has switched them on, neither.

    Args:
        module: TensorFlow.
    """

    def __init__(self, module):
        self._library = _library(module)
        self._is_ours = False

    def begin(self):
        """Leave records from now on."""
        is_on = _function(self._library, "CPUAllocatorStatsEnabled")
        switch = _function(self._library, "EnableCPUAllocatorStats")
        off = _function(self._library, "DisableCPUAllocatorStats")
        if is_on is not None and switch is not None and off is not None and not is_on():
            switch()
            self._is_ours = True

    def end(self):
        """Leave none, if it was this that began."""
        if self._is_ours:
            self._is_ours = False
            _function(self._library, "DisableCPUAllocatorStats")()


def _library(module):
    """TensorFlow's library, if it is loaded; None: it is not, or is built otherwise. None is loaded for this."""
    import ctypes  # not at the start of each process: TensorFlow has loaded it by now

    try:
        return ctypes.CDLL(join(dirname(module.__file__), _LIBRARY), mode=RTLD_NOLOAD | RTLD_LAZY)
    except (OSError, AttributeError, TypeError):
        return None


def _function(library, name):
    """One of its functions without arguments; None: it has no such function."""
    from ctypes import c_bool

    for space in _SPACES:
        found = getattr(library, "_ZN%s%d%sEv" % (space, len(name), name), None)
        if found is not None:
            found.argtypes, found.restype = (), c_bool  # of those that give nothing, nobody asks
            return found
    return None
