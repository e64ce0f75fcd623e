"""Plug-ins: what packages beside dlprof give it through entry points, one group for each kind of thing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


def entry_points(group: str) -> EntryPoints:
    """The entry points of a group."""
    found: EntryPoints = _installed().select(group=group)
    return found


@cache  # files of every installed package are read for it, whatever the group
def _installed() -> Any:  # EntryPoints; Python 3.11 has a class of its own for all groups at once
    from importlib import metadata  # noqa: PLC0415  (it brings zip files and email along: not for `--help`)

    return metadata.entry_points()


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
