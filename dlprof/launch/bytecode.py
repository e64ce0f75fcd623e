"""Compiled modules that Python keeps in `__pycache__`: none are written that could come out in part.

Before 3.12.8 and 3.13.1 Python takes no notice where only the beginning of such a file can be written: files may only
have a certain size (`ulimit -f`), or the disk is full. From then on the import of that module fails in every process,
until somebody removes the file.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from pathlib import Path

_PACKAGE = Path(__file__).parent
_ROOM_BYTES = 16 << 20
"""Twice what all compiled modules of dlprof take."""


def may_be_cut(folder: Path = _PACKAGE) -> bool:
    """Whether a file that this process, or what it starts, writes below a folder might come out in part.

    Args:
        folder: Where; it need not be there yet. dlprof's own, unless told otherwise.
    """
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY or _free_bytes(folder) < _ROOM_BYTES


def _free_bytes(folder: Path) -> float:
    """Room on the disk for who does not run as root."""
    for place in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            disk = os.statvfs(place)
            return disk.f_bavail * disk.f_frsize
    return float("inf")


def stay_whole() -> None:
    """Have this process write no compiled module that it might write in part."""
    sys.dont_write_bytecode |= may_be_cut()


def flags() -> list[str]:
    """Flags for a Python of dlprof's own that is started from here, so that it does as this one."""
    return ["-B"] if sys.dont_write_bytecode or may_be_cut() else []


def keep_from(folder: Path) -> None:
    """Have no Python keep compiled modules in a folder of sources, nor in those below: a file is in the place of each.

    Raises:
        OSError: It cannot be written to.
    """
    for source in {path.parent for path in folder.rglob("*.py")}:
        (source / "__pycache__").touch()
