"""The line of the user's that most of the time of imports is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dlprof.analysis import phase_threads
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.schema.vocabulary import Phase, SpanKind
from dlprof.store.run import Run

_MOST = 0.5
_COLUMNS = ("span_id", "parent_id", "kind", "thread_id", "start_ns", "dur_ns", "file", "line")
_Place = tuple[str, int]


@dataclass(frozen=True)
class ImportLine:
    """A line that imports.

    Attributes:
        file, line: Its place.
        dur_ns: What its imports took, with all that these import.
    """

    file: str
    line: int
    dur_ns: int


def longest(run: Run) -> ImportLine | None:
    """The line in which more than half of the phase `import` was; None: there is none, or imports were not seen.

    Where a line imports a module of the user's own, it is the line in that module, if so much is in it.
    """
    whole = sum(row["dur_ns"] for row in run.chosen("phases", "phase", [Phase.IMPORT], ("dur_ns",)))
    rows = run.chosen("spans", "kind", [SpanKind.IMPORT, SpanKind.SCRIPT], _COLUMNS)
    spans, whose = {row["span_id"]: row for row in rows}, phase_threads.of_run(run)
    times: Counter[_Place] = Counter()
    for row in rows:
        place = _place(row)
        above = spans.get(row["parent_id"])
        if place is not None and is_of_work(row, spans, whose) and (above is None or _place(above) != place):
            times[place] += row["dur_ns"]
    long = [(ns, place) for place, ns in times.items() if ns > _MOST * whole]
    if not long:
        return None
    ns, (file, line) = min(long)
    return ImportLine(file, line, ns)


def _place(row: Mapping[str, Any]) -> _Place | None:
    """Where an import stands in the user's code."""
    found = row["file"], row["line"]
    return None if None in found or row["kind"] != SpanKind.IMPORT else found


def is_of_work(row: Mapping[str, Any], spans: Mapping[int, Mapping[str, Any]], whose: PhaseThreads) -> bool:
    """Whether an import, or the one that it is part of, is made by the script itself: others are in their phases.

    On a thread of its own that is an import around which nothing is, while phases are of that thread.
    """
    while row["parent_id"] is not None:
        above = spans.get(row["parent_id"])
        if above is None or above["kind"] != SpanKind.IMPORT:
            return above is not None
        row = above
    return whose.has(row)
