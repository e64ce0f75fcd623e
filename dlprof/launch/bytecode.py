"""Compiled modules that Python keeps in `__pycache__`: none are written where files may only have a certain size.

Before 3.12.8 and 3.13.1 Python takes no notice where only the beginning of such a file can be written (`ulimit -f`).
From then on the import of that module fails in every process, until somebody removes the file.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def is_limited() -> bool:
    """Whether this process, and what it starts, may only write files of a certain size."""
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY


def stay_whole() -> None:
    """Have this process write no compiled module that it might write in part."""
    sys.dont_write_bytecode |= is_limited()


def flags() -> list[str]:
    """Flags for a Python of dlprof's own that is started from here, so that it does as this one."""
    return ["-B"] if sys.dont_write_bytecode or is_limited() else []


def keep_from(folder: Path) -> None:
    """Have no Python keep compiled modules in a folder of sources, nor in those below: a file is in the place of each.

    Raises:
        OSError: It cannot be written to.
    """
    for source in {path.parent for path in folder.rglob("*.py")}:
        (source / "__pycache__").touch()
