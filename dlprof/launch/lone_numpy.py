"""Loads NumPy without threads for linear algebra, of which dlprof does none.

OpenBLAS starts a thread for each core as it is loaded, which takes 0.09 s of CPU time on two cores while a script
runs beside. For processes of dlprof's own alone: NumPy keeps this for as long as its process lives.
"""

from __future__ import annotations

import importlib
import os

_THREADS = "OPENBLAS_NUM_THREADS"


def load() -> None:
    """Load NumPy; what the environment says of threads already is left to it."""
    is_told = _THREADS in os.environ
    os.environ.setdefault(_THREADS, "1")
    try:
        importlib.import_module("numpy")
    finally:
        if not is_told:
            del os.environ[_THREADS]


load()
