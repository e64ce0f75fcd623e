"""Lines that call a model with all of a sequence for each new piece of it, and what of that is for the earlier pieces.

A line is fitted to the times from one call to the next against the length that the call was given: what a call takes
whatever its length, and what each place more takes. So it holds for engines that return before they have computed, as
long as the program waits for something in each turn.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis import phase_threads
from dlprof.schema.vocabulary import MAIN_THREAD, SpanKind
from dlprof.store.run import Run

_COLUMNS = ("thread", "thread_id", "name", "start_ns", "dur_ns", "file", "line", "detail")
_SUMS = ("turns", "lengths", "squares", "ns", "lengths_ns", "ns_squares")
_LEAST_TURNS = 8
_BEHIND = 0.25
_SHORT = 0.25
"""Share of the longest input up to which the shortest one stands for one of a single piece."""


@dataclass(frozen=True)
class Growing:
    """The sequences of one line.

    Attributes:
        model: Name of the class of the model.
        file, line: The user's line that calls it.
        intervals: Begin and end of each sequence (ns): from its first call to its last one.
        calls: Calls of all sequences.
        first, last: Length of the shortest and of the longest input.
        step: Places that each call has more than the one before.
        piece_ns: What a call takes for each place of its input, by the fit (ns).
        error_ns: Standard error of that (ns).
        saved_ns: What the calls take beyond as many of a single piece (ns).
        most_ns: What it may be, where a place takes as much as the fit leaves possible (ns).
        waited_ns: For how long a line behind them, which runs once for each sequence, waited for values of the device:
            for what the calls have only started (ns).
    """

    model: str
    file: str
    line: int
    intervals: tuple[tuple[int, int], ...]
    calls: int
    first: int
    last: int
    step: int
    piece_ns: float
    error_ns: float
    saved_ns: float
    most_ns: float
    waited_ns: int

    @property
    def is_behind(self) -> bool:
        """Whether a good part of it was computed after the last call: times between calls tell little then."""
        return self.waited_ns > _BEHIND * self.total_ns

    @property
    def mean(self) -> float:
        """Length of the input, as a mean."""
        return (self.first + self.last) / 2

    @property
    def total_ns(self) -> int:
        """Of all sequences."""
        return sum(end - begin for begin, end in self.intervals)

    @property
    def unsure(self) -> float:
        """Half of the 95 % interval of what a place takes, as a share of that; 1 and more: it may take nothing."""
        return 2 * self.error_ns / self.piece_ns if self.piece_ns > 0 else math.inf


def of_run(run: Run) -> tuple[Growing, ...]:
    """Those of threads that phases are of, the longest first; of those at the same time (parts of a model) the longest.

    What others do beside these took none of the time that phases tell.
    """
    whose = phase_threads.of_run(run)
    rows: dict[tuple[str, int, int], list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    for row in run.chosen("spans", "kind", (SpanKind.GROWING_INPUT,), _COLUMNS):
        told = json.loads(row["detail"] or "{}").get("growing") or {}
        if (
            (row["thread"] == MAIN_THREAD or whose.has(row))
            and row["file"]
            and all(isinstance(told.get(name), int | float) for name in _SUMS)
        ):
            rows.setdefault((row["file"], row["line"], told.get("step", 1)), []).append((row, told))
    found = [one for place, sequences in rows.items() if (one := _of_line(run, place, sequences)) is not None]
    kept: list[Growing] = []
    for one in sorted(found, key=lambda one: -one.total_ns):
        if not any(_overlap(one, other) for other in kept):
            kept.append(one)
    return tuple(kept)


def _of_line(
    run: Run, place: tuple[str, int, int], sequences: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> Growing | None:
    sums = [float(sum(told[name] for _, told in sequences)) for name in _SUMS]
    fit = _fitted(*sums)
    if fit is None:
        return None
    alone_ns, piece_ns, error_ns = fit
    first, last = min(told["first"] for _, told in sequences), max(told["last"] for _, told in sequences)
    single = alone_ns + piece_ns * place[2]
    if first <= _SHORT * last:  # what a turn took with next to nothing, no line fits worse
        single = max(single, min(told["shortest_ns"] for _, told in sequences))
    intervals = sorted((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row, _ in sequences)
    return Growing(
        str(sequences[0][0]["name"]),
        place[0],
        place[1],
        tuple(intervals),
        sum(told["calls"] for _, told in sequences),
        first,
        last,
        place[2],
        piece_ns,
        error_ns,
        max(0.0, sums[3] - sums[0] * max(0.0, single)),
        max(0.0, (piece_ns + 2 * error_ns) * (sums[1] - sums[0] * place[2])),
        _waited_behind(run, intervals),
    )


def _waited_behind(run: Run, intervals: Sequence[tuple[int, int]]) -> int:
    """For how long the first line that asks for a value behind each sequence waited (ns); 0: there is none."""
    first, following = intervals[0][1], intervals[1][0] if len(intervals) > 1 else math.inf
    behind = [
        row
        for row in run.rows("syncs")
        if row["calls"] == len(intervals)
        and first <= row["start_ns"] <= following
        and row["end_ns"] >= intervals[-1][1]
    ]
    return min(behind, key=lambda row: row["start_ns"])["dur_ns"] if behind else 0


def _fitted(
    count: float, lengths: float, squares: float, ns: float, lengths_ns: float, ns_squares: float
) -> tuple[float, float, float] | None:
    """By least squares what a call takes without a length, for each place, and the standard error of that (ns)."""
    spread = count * squares - lengths * lengths
    if count < _LEAST_TURNS or spread <= 0:
        return None
    piece = (count * lengths_ns - lengths * ns) / spread
    left = (ns_squares - ns * ns / count) - piece * piece * spread / count
    error = math.sqrt(max(0.0, left) / (count - 2) / (spread / count))
    return (ns - piece * lengths) / count, piece, error


def _overlap(one: Growing, other: Growing) -> bool:
    return any(max(a, c) < min(b, d) for a, b in one.intervals for c, d in other.intervals)
