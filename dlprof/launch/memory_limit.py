"""What `ulimit -v` leaves to dlprof's own process.

The script has the same limit. Storing a run takes libraries that take more than many a script: where there is no room
for them they are not even begun with, for some end the process then (OpenBLAS), and the script with it.
"""

from __future__ import annotations

import resource
from pathlib import Path

_STORING_BYTES = 704 << 20
"""Address space that storing a small run takes, with the libraries for it."""


def allowed() -> int | None:
    """Bytes of address space that a process may have; None: as many as it likes."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def short_for_storing() -> str | None:
    """Why a run cannot be stored in this process, as a clause; None: it can, as far as that is known before."""
    most = allowed()
    if most is None or most - _taken() >= _STORING_BYTES:
        return None
    return f"ulimit -v allows {_mb(most)}, and storing a run takes {_mb(_STORING_BYTES)} more than dlprof has"


def as_clause() -> str:
    """What to say where memory has run out."""
    most = allowed()
    return "memory ran out" if most is None else f"memory ran out: ulimit -v allows {_mb(most)}"


def _mb(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def _taken() -> int:
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0
