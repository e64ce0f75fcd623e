"""Reads traces of CNTK's performance profiler: Chrome JSON, with the time of every node where that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns, judge_unpaired, thread_number
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema.vocabulary import EventKind

_WRAPPED = 2.0**63
"""Times before the profiler was last enabled are written as if they had no sign."""
_EDGES = ("B", "E")
_EDGE_BYTES = 500
"""An event, and what it is paired by (bytes)."""


def claims(sample: Sample) -> bool:
    """Whether all events at the begin of a file are begins and ends of CNTK's."""
    head = sample.chrome
    if head is None or not head.events:
        return False
    return all(event.cat == "PERF" and event.ph in _EDGES for event in head.events)


def read(path: Path) -> FileContent:
    """The nodes of a trace, and the passes around them. The clock begins when the profiler was enabled.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "cntk", "cntk", attribution="node")
    passed_over = PassedOver()
    _add(trace, _edges(source, passed_over))
    passed_over.tell(trace)
    source.judge(trace)
    return FileContent.of(trace)


def _edges(source: ChromeFile, passed_over: PassedOver) -> Iterator[Event]:
    """Begins and ends; the others are counted."""
    for piece in source.pieces():
        for event in piece:
            if event.ph in _EDGES:
                # All are held: the file is not in order of time.
                budget().hold(_EDGE_BYTES, "begins and ends")
                yield event
            else:
                passed_over.add(event)


def _add(trace: Trace, events: Iterable[Event]) -> None:
    """Pair begins and ends; the file is not in order of time."""
    open_: dict[Any, list[float]] = {}
    rows: list[EventRow] = []
    unpaired = 0
    # At one moment: ends before begins, but a begin before its own end.
    for event in sorted(events, key=_time):
        key = (event.pid, event.tid, event.name)
        if event.ph == "B":
            open_.setdefault(key, []).append(_time(event))
        elif open_.get(key):
            rows.append(_row(trace, event, open_[key].pop()))
        else:
            unpaired += 1
    trace.add_rows(rows)
    judge_unpaired(trace, unpaired + sum(len(starts) for starts in open_.values()))


def _row(trace: Trace, end: Event, start_us: float) -> EventRow:
    name = str(end.name)
    kind = EventKind.ANNOTATION if name.startswith("_") else EventKind.OPERATOR
    thread = end.tid if isinstance(end.tid, int) else 0
    lane = trace.lane((end.pid, end.tid), Lane(0, thread_number(end), f"thread {thread}"))
    start = as_ns(start_us)
    return EventRow(kind, trace.names.number(name), start, as_ns(_time(end)) - start, lane)


def _time(event: Event) -> float:
    return event.ts - 2.0**64 if event.ts > _WRAPPED else event.ts


READER = Reader("cntk", "CNTK's profiler (JSON)", claims, read)
