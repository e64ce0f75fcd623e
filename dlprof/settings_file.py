"""The file that settings are taken from: of the user, or of the machine; not one that somebody put in the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlprof import safe_files

NAME = "pyproject.toml"
_MOST = 4 << 20
_ROOT = 0


def find(folder: Path) -> tuple[Path | None, tuple[str, ...]]:
    """The nearest file in a folder or above it, up to the root of the working tree or the home folder.

    Outside of both only the folder itself is looked at: above it, in /tmp for example, anybody may have put one.

    Returns:
        The file, or None; and what the user is told of a file that is passed over.
    """
    for place in _places(folder):
        path = place / NAME
        if path.is_file():
            reason = _distrusted(path)
            if reason is None:
                return path, ()
            return None, (f"settings of {path} are not used, because {reason}",)
    return None, ()


def table(path: Path) -> dict[str, Any]:
    """What stands under `[tool.dlprof]`.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no TOML, or no table stands there.
    """
    import tomllib  # noqa: PLC0415  (only where there is such a file)

    found: Any = tomllib.loads(safe_files.read_text(path.resolve(), _MOST))
    for name in ("tool", "dlprof"):
        found = found.get(name, {})
        if not isinstance(found, dict):
            raise ValueError(f"{name} is no table")  # noqa: TRY004
    return dict(found)


def _places(folder: Path) -> Iterator[Path]:
    """Folders to look at, the nearest first."""
    chain = [folder, *folder.parents]
    home = _home()
    last = next((at for at, place in enumerate(chain) if place == home or (place / ".git").exists()), 0)
    yield from chain[: last + 1]


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # a user without one
        return None


def _distrusted(path: Path) -> str | None:
    """Why a file is not read; None: it is the user's or the machine's, and nobody else can write to it."""
    for state in (path.lstat(), path.stat()):
        if state.st_uid not in (_ROOT, os.geteuid()):
            return "it belongs to another user"
    if state.st_mode & stat.S_IWOTH:
        return "everybody may write to it"
    if state.st_mode & stat.S_IWGRP and state.st_gid != os.getegid():
        return "another group may write to it"
    return None
