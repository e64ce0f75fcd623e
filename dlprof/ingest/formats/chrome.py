"""Reads traces in Chrome's format of no maker that dlprof knows."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns, judge_unpaired, thread_number
from dlprof.ingest.parse.open_events import OpenEvents
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import MarkSort
from dlprof.schema.vocabulary import EventKind

_RANGES = (MarkSort.NUMBERED_STEP, MarkSort.STEP, MarkSort.OPTIMISER, MarkSort.EPOCH)


def claims(sample: Sample) -> bool:
    """Whether a file looks like a trace at all."""
    head = sample.chrome
    return head is not None and bool(head.events or head.keys)


def read(path: Path) -> FileContent:
    """Complete events, and pairs of begin and end, as operators of the host.

    Those whose names say that they are whole steps, epochs or updates are ranges around operators: they do no work.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "chrome", "chrome")
    open_: OpenEvents[Event] = OpenEvents()
    passed_over = PassedOver()
    for piece in source.pieces():
        rows: list[EventRow] = []
        for event in piece:
            key = (event.pid, event.tid)
            if event.ph == "X":
                rows.append(_row(trace, event, event.ts + max(0.0, event.dur)))
            elif event.ph == "B":
                open_.begin(key, event)
            elif event.ph == "E" and (begun := open_.end(key)):
                rows.append(_row(trace, begun, event.ts))
            elif event.ph == "M" and event.name == "thread_name" and event.args is not None:
                trace.rename_lane(key, str(event.args.name))
            elif event.ph != "E":
                passed_over.add(event)
        trace.add_rows(rows)
    judge_unpaired(trace, open_.unpaired)
    passed_over.tell(trace)
    source.judge(trace)
    return FileContent.of(trace)


def _row(trace: Trace, event: Event, end_us: float) -> EventRow:
    process = event.pid if isinstance(event.pid, int) else 0
    lane = trace.lane((event.pid, event.tid), Lane(process % 2**31, thread_number(event), str(event.tid)))
    start, name = as_ns(event.ts), str(event.name)
    return EventRow(_kind(name), trace.names.number(name), start, max(0, as_ns(end_us) - start), lane)


@lru_cache(maxsize=4096)
def _kind(name: str) -> EventKind:
    mark = trace_marks.of_name(name)
    if mark is None:
        return EventKind.OPERATOR
    if mark.sort is MarkSort.INPUT:
        return EventKind.INPUT
    return EventKind.ANNOTATION if mark.sort in _RANGES else EventKind.OPERATOR


READER = Reader("chrome", "any other trace in Chrome's format", claims, read)
