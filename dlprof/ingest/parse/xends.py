"""When operations of XLA that go on beside their thread really ended: marks `end: NAME` tell it of each.

On a processor XLA starts large convolutions and products in a pool of threads, and the event of such an operation
is over when the call is (measured: a gradient of a convolution with an event of 10 ms took 117 ms). The operation has
a number (stat `_p`), and when its last part is done, a mark with the same number (`_c`) is set, on whatever thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlprof.ingest.kernels.events import NONE, Integers
from dlprof.ingest.limits import budget
from dlprof.ingest.parse import xplane
from dlprof.ingest.parse.xplane import Line, Piece, Plane, SpaceBytes

_MARK = "end: "
_OPERATION, _MARKED = "_p", "_c"


@dataclass(frozen=True)
class Ends:
    """Ends by the numbers of operations.

    Attributes:
        stats: The stats, by their metadata, that may have the number of an operation; empty where nothing is marked.
    """

    stats: tuple[int, ...]
    _numbers: Integers
    _times: Integers
    _lines: Integers

    def of(self, numbers: Integers) -> tuple[Integers, Integers]:
        """When each operation ended (ns), and on which line of the plane that was marked; NONE where it is not."""
        if not len(self._numbers):
            nothing = np.full(len(numbers), NONE, np.int64)
            return nothing, nothing
        at = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        known = (self._numbers[at] == numbers) & (numbers >= 0)
        return np.where(known, self._times[at], NONE), np.where(known, self._lines[at], NONE)


def ends(space: SpaceBytes, plane: Plane) -> Ends:
    """The marks of a plane.

    Raises:
        WireError: The bytes are damaged.
    """
    names = np.asarray([number for number, name in plane.names.items() if name.startswith(_MARK)], np.int64)
    operation, marked = (plane.stat_numbers([name]) for name in (_OPERATION, _MARKED))
    empty = np.empty(0, np.int64)
    if not len(names) or not operation or not marked:
        return Ends((), empty, empty, empty)
    parts = [(empty, empty, empty)]
    for at, span in enumerate(plane.lines):
        line = space.line(span)
        for piece in space.pieces(line):
            for numbers, times in _marks(line, piece, names, marked):
                budget().hold(3 * numbers.nbytes, "marks of ends")
                parts.append((numbers, times, np.full(len(numbers), at, np.int64)))
    numbers, times, lines = (np.concatenate([part[column] for part in parts]) for column in range(3))
    order = np.argsort(numbers, kind="stable")
    return Ends(tuple(operation), numbers[order], times[order], lines[order])


def _marks(line: Line, piece: Piece, names: Integers, marked: list[int]) -> Iterator[tuple[Integers, Integers]]:
    """Numbers and times (ns) of the marks in a piece of a line, for each stat that has such numbers."""
    found = xplane.chosen(piece, names, marked, ())
    if found is None:
        return
    events, stats = found
    for numbers in stats.values():
        there = (numbers >= 0) & (events.offset_ps >= 0)
        yield numbers[there], line.timestamp_ns + (events.offset_ps[there] + 500) // 1000
