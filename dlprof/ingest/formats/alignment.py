"""Puts traces of several clocks on one timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlprof.ingest.artifact import Health
from dlprof.ingest.formats.base import FileContent
from dlprof.schema.tables import TIMELESS


def first_ns(file: FileContent) -> int | None:
    """The first time in a file, in its own clock (ns); None if it has none."""
    if file.trace is not None and file.trace.first_ns is not None:
        return file.trace.first_ns
    for name, table in file.tables.items():
        for column in () if name in TIMELESS else ("start_ns", "time_ns"):
            if column in table.column_names and table.num_rows:
                return int(min(value for value in table[column].to_pylist() if value is not None))
    return None


def shifts(files: Sequence[FileContent]) -> tuple[list[int], int | None, list[Health]]:
    """What has to be added to the times of each file, so that the earliest is zero.

    Files that know the wall clock are placed by it; those that do not begin at zero, and are named. Files of a clock
    that the machine's processes share (`clock` in their facts) stay together.

    Returns:
        (shift of each file, Unix time of zero or None, what the user must know).
    """
    zeros = [f.trace.zero_ns if f.trace is not None else f.zero_ns for f in files]
    firsts = [first_ns(f) for f in files]
    known = [z + f for z, f in zip(zeros, firsts, strict=True) if z is not None and f is not None and _is_wall(z + f)]
    origin = min(known) if known else None
    shifts_ns, adrift, together = [], [], _shared_clocks(files, firsts)
    for file, zero, first in zip(files, zeros, firsts, strict=True):
        if first is None:
            shifts_ns.append(0)
        elif origin is not None and zero is not None and _is_wall(zero + first):
            shifts_ns.append(zero - origin)
        else:
            shifts_ns.append(-together.get(file.facts.get("clock"), first))
            adrift.append(file)
    if (
        not adrift
        or (len(together) == 1 and all(file.facts.get("clock") in together for file in files))
        or len([f for f in firsts if f is not None]) < 2
    ):
        return shifts_ns, origin, []
    named = dict.fromkeys(f.trace.path.name if f.trace is not None else f.format for f in adrift)
    names = ", ".join(named)
    text = f"No absolute time in: {names}. They are placed at the beginning, not aligned with the others."
    return shifts_ns, origin, [Health("trace-not-aligned", "warning", text, len(adrift))]


def _shared_clocks(files: Sequence[FileContent], firsts: Sequence[int | None]) -> dict[Any, int]:
    """The first time in the files of each clock that several processes share (ns)."""
    earliest: dict[Any, int] = {}
    for file, first in zip(files, firsts, strict=True):
        clock = file.facts.get("clock")
        if first is not None and isinstance(clock, str):
            earliest[clock] = min(first, earliest.get(clock, first))
    return earliest


def _is_wall(time_ns: int) -> bool:
    """Whether a time can be a Unix time: after 2001."""
    return time_ns > 10**18
