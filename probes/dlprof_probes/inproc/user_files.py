"""Which files are the user's own code."""

import os

CELL = "<ipython-input-"
"""What IPython calls the code of a cell begins with this; ipykernel gives it the name of a file that is not there."""

_CYTHON = (".pyx", ".pxd", ".pxi")
"""Compiled modules name these as they lay where the module was made: `numpy/random/mtrand.pyx`."""


class UserFiles(object):
    """Whether a file is the user's own code: not Python's, not an installed package's, not dlprof's."""

    def __init__(self):
        self._known = {}
        here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self._libraries = (os.path.dirname(os.__file__) + os.sep, here + os.sep)

    def __call__(self, path):
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._look(path)
        return known

    def _look(self, path):
        if not path or path.startswith("<"):
            return path.startswith(CELL)
        parts = path.split(os.sep)
        if "site-packages" in parts or "dist-packages" in parts:
            return False
        if path.endswith(_CYTHON) and not os.path.isfile(path):
            return False
        return not os.path.abspath(path).startswith(self._libraries)
