"""Plug-ins: what packages beside dlprof give it through entry points, one group for each kind of thing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_ABOUT = (".dist-info", ".egg-info", "EGG-INFO")
"""How the names of the folders end that tell of installed packages."""


def entry_points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group."""
    if not _may_be_some():
        return ()
    found: Iterable[EntryPoint] = _installed().select(group=group)
    return found


@cache  # files of every installed package are read for it, whatever the group
def _installed() -> Any:  # EntryPoints; Python 3.11 has a class of its own for all groups at once
    from importlib import metadata  # noqa: PLC0415  (it brings zip files and email along: not for `--help`)

    return metadata.entry_points()


@cache
def _may_be_some() -> bool:
    """Whether a package may give dlprof anything: whether any file of entry points has the word.

    Only then are they read by `importlib.metadata`: that takes a fifth of the time from dlprof's start to the script's.
    """
    finders = (finder for finder in sys.meta_path if hasattr(finder, "find_distributions"))
    if any(getattr(finder, "__module__", "") != "_frozen_importlib_external" for finder in finders):
        return True  # packages may lie anywhere
    return any(_may_name_some(place or ".") for place in dict.fromkeys(sys.path))


def _may_name_some(place: str) -> bool:
    try:
        with os.scandir(place) as entries:
            return any(_has_group(entry.path) for entry in entries if entry.name.endswith(_ABOUT))
    except NotADirectoryError:  # an archive
        return os.path.exists(place)  # noqa: PTH110
    except OSError:
        return False


def _has_group(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123  (hundreds, at each start)
            return b"[dlprof." in file.read()
    except NotADirectoryError:  # an egg that is one file
        return True
    except OSError:
        return False


def loaded(group: str, what: str, kind: type | None = None) -> Iterator[tuple[str, Any]]:
    """Name and value of each entry point of a group; one that is of no use is passed over with a warning.

    Args:
        group: The group, for example `dlprof.readers`.
        what: What they are, for the warning: `reader`.
        kind: The type that each must have; None: whoever asks looks for itself.
    """
    for entry in entry_points(group=group):
        try:
            value = entry.load()
        except Exception as error:  # noqa: BLE001  (a foreign plug-in may fail in any way)
            warn(what, entry.name, f"cannot be loaded: {error}")
            continue
        if kind is None or isinstance(value, kind):
            yield entry.name, value
        else:
            warn(what, entry.name, f"gives no {kind.__name__}")


def warn(what: str, name: str, reason: str) -> None:
    """Say that a plug-in is passed over, and why."""
    print(f"dlprof: warning: {what} plug-in {name} {reason}", file=sys.stderr)
