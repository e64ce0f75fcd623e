"""Who allocated the memory that was held at its largest, and what grew, where allocations were recorded (`--heap`).

A line's growth is what it came down to in the last eighth of the training, less that of the first: what a step takes
and gives back again is not in it. The first quarter of the steps is left out, as in `slopes`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dlprof.analysis import slopes
from dlprof.analysis.columns import Integers, integers
from dlprof.store.run import Run

HOW = (
    "allocations of the traced process that memray recorded, from the script's first line on: by the innermost line of "
    "the user's own under which they were made; libraries and what was there before are in none of it, and small "
    "objects of Python count for the line at which Python took a new arena"
)
_PARTS = 8
_FEWEST = 16
"""Moments in the training; of fewer no growth is told."""


@dataclass(frozen=True)
class Frame:
    """A line of Python and its function."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class HeapLine:
    """What a line of the user's own allocated, itself or by what it called.

    Attributes:
        file, line, function: Which; None: no line of the user's own was there, as on threads of engines.
        peak_bytes: Held when the recorded memory was at its largest.
        peak_count: In so many pieces.
        grown_bytes: By how much that grew in the training; None: not measured.
        at: Where most of it was allocated: the innermost line of Python. None: no Python ran on the thread.
    """

    file: str | None
    line: int | None
    function: str | None
    peak_bytes: int
    peak_count: int
    grown_bytes: int | None
    at: Frame | None

    @property
    def where(self) -> str:
        """The line, for people, or what there is instead."""
        if self.file is not None:
            return f"{self.file}:{self.line}"
        return "no line of the script" if self.at is not None else "threads without Python"

    @property
    def place(self) -> tuple[str, int] | None:
        """File and line."""
        return (self.file, self.line) if self.file is not None and self.line is not None else None


@dataclass(frozen=True)
class Heap:
    """What was allocated, by line.

    Attributes:
        peak_bytes: The most that was held of what was recorded.
        grown_bytes: By how much all that is held grew in the training; None: not measured.
        lines: Those that held most first.
    """

    peak_bytes: int
    grown_bytes: int | None
    lines: tuple[HeapLine, ...]

    @property
    def growing(self) -> Sequence[HeapLine]:
        """Lines whose memory grew in the training, those that grew most first."""
        return _growing(self.lines)


def most_telling(lines: Sequence[HeapLine], most: int) -> Sequence[HeapLine]:
    """Some of all lines, in their order: half of them those that held most, half those that grew most.

    Args:
        lines: All, those that held most first.
        most: How many.
    """
    largest, rest = lines[: most - most // 2], lines[most - most // 2 :]
    grown = _growing(rest)[: most // 2]
    others = [one for one in rest if one not in grown][: most - len(largest) - len(grown)]
    return [*largest, *(one for one in rest if one in grown or one in others)]


def _growing(lines: Iterable[HeapLine]) -> Sequence[HeapLine]:
    grown = [one for one in lines if (one.grown_bytes or 0) > 0]
    return sorted(grown, key=lambda one: -(one.grown_bytes or 0))


def of_run(run: Run) -> Heap | None:
    """By line; None: allocations were not recorded."""
    rows = run.rows("heap")
    if not rows:
        return None
    grown = _grown(run)
    groups: dict[tuple[str | None, int | None, str | None], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        groups[row["file"], row["line"], row["function"]].append(number)
    lines = []
    for (file, line, function), numbers in groups.items():
        of_line = [rows[number] for number in numbers]
        places = [row["place"] for row in of_line]
        largest = max(of_line, key=lambda row: max(row["peak_bytes"] or 0, (grown or {}).get(row["place"], 0)))
        known = largest["at_file"] is not None
        lines.append(
            HeapLine(
                file=file,
                line=line,
                function=function,
                peak_bytes=sum(row["peak_bytes"] or 0 for row in of_line),
                peak_count=sum(row["peak_count"] or 0 for row in of_line),
                grown_bytes=_sum(grown, places),
                at=Frame(largest["at_file"], largest["at_line"], largest["at_function"]) if known else None,
            )
        )
    lines.sort(key=lambda one: (-one.peak_bytes, one.file or "", one.line or 0))
    return Heap(sum(one.peak_bytes for one in lines), _sum(grown, [row["place"] for row in rows]), tuple(lines))


def _sum(grown: dict[int, int] | None, places: Iterable[int]) -> int | None:
    return sum(grown.get(place, 0) for place in places) if grown is not None else None


def _grown(run: Run) -> dict[int, int] | None:
    """By place, by how much what it held grew in the training; None: there was none, or it was too short."""
    try:
        steps = slopes.steps_of_run(run)
    except slopes.NotMeasured:
        return None
    held = run.table("heap_held")
    place, time, size = (integers(held[name]) for name in ("place", "time_ns", "bytes"))
    moments = np.unique(time[(time >= steps.time_ns[0]) & (time <= steps.time_ns[-1])])
    if len(moments) < _FEWEST:
        return None
    parts = np.array_split(moments, _PARTS)
    first, last = (_least(place, time, size, part) for part in (parts[0], parts[-1]))
    return {number: last.get(number, 0) - least for number, least in first.items()}


def _least(place: Integers, time: Integers, size: Integers, part: Integers) -> dict[int, int]:
    """The least that each place held at some moments."""
    inside = (time >= part[0]) & (time <= part[-1])
    found: dict[int, int] = {}
    for number, held in zip(place[inside].tolist(), size[inside].tolist(), strict=True):
        found[number] = min(held, found.get(number, held))
    return found
