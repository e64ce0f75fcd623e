"""pyarrow, kept from loading pandas.

At the first list that it turns into an array pyarrow looks whether pandas is installed, and loads it: a third of a
second of CPU time, for nothing that dlprof does. It looks once; what is really of pandas still loads it.
"""

from __future__ import annotations

import sys
import threading
from functools import cache

import pyarrow as pa


class _NoPandas:
    """Says on one thread that there is no pandas. Without its base class, whose module loads many others."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        """Nothing is found here; pandas not anywhere else, either."""
        if fullname == "pandas" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


@cache
def settle() -> None:
    """Have pyarrow look now, and find none, unless pandas is loaded already."""
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
