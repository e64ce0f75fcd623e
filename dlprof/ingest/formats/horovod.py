"""Reads Horovod's timeline (HOROVOD_TIMELINE): the collectives of each tensor, as rank 0 saw them, and waits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns, judge_unpaired
from dlprof.ingest.parse.open_events import OpenEvents
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema.vocabulary import EventKind

_NEGOTIATE = "NEGOTIATE_"
_WAITS = re.compile(r"NEGOTIATE_\w+|QUEUE|WAIT_FOR_\w+|Sync")
_WORK_OF_HOROVOD = re.compile(r"SCHEDULE|INIT_\w+|CYCLE_\w+")
_READY = re.compile(r"\d+")


def claims(sample: Sample) -> bool:
    """Whether a file has the negotiations of Horovod."""
    head = sample.chrome
    return head is not None and any(event.ph == "B" and str(event.name).startswith(_NEGOTIATE) for event in head.events)


def read(path: Path) -> FileContent:
    """The collectives of each tensor: each has a lane. The clock begins when Horovod was initialised.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    reading = _Reading(Trace(path, "horovod", "horovod"))
    for piece in source.pieces():
        for event in piece:
            reading.take(event)
        reading.flush()
    trace = reading.close()
    source.judge(trace)
    return FileContent.of(trace)


class _Reading:
    """Pairs begins and ends, tensor by tensor."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._open: OpenEvents[Event] = OpenEvents()
        self._rows: list[EventRow] = []
        self._ready = 0
        self._passed_over = PassedOver()

    def take(self, event: Event) -> None:
        """Take the next event."""
        key = (event.pid, event.tid)
        if event.ph == "B":
            self._open.begin(key, event)
        elif event.ph == "E":
            begun = self._open.end(key)
            if begun is not None:
                self._add(begun, event.ts)
        elif event.ph == "M" and event.name == "process_name" and event.args is not None:
            self._lane(key, str(event.args.name))
        elif event.ph == "X" and _READY.fullmatch(str(event.name)):
            self._ready += 1
        elif event.ph == "X":
            self._add(event, event.ts + max(0.0, event.dur))
        else:
            self._passed_over.add(event)

    def _lane(self, key: Any, name: str) -> int:
        number = self._trace.lane(key, Lane(0, key[0] if isinstance(key[0], int) else 0, name))
        self._trace.rename_lane(key, name)
        return number

    def _add(self, event: Event, end_us: float) -> None:
        name, start = str(event.name), as_ns(event.ts)
        key = (event.pid, event.tid)
        lane = self._trace.lane(key, Lane(0, event.pid if isinstance(event.pid, int) else 0, f"tensor {event.pid}"))
        number = self._trace.names.number(name)
        self._rows.append(EventRow(_kind(name), number, start, max(0, as_ns(end_us) - start), lane))

    def flush(self) -> None:
        """Give the trace what was paired."""
        self._trace.add_rows(self._rows)
        self._rows.clear()

    def close(self) -> Trace:
        """The trace, with what was passed over."""
        self._trace.skip("ticks of ranks that were ready", self._ready, "they have no duration")
        self._passed_over.tell(self._trace)
        judge_unpaired(self._trace, self._open.unpaired)
        return self._trace


def _kind(name: str) -> EventKind:
    if _WAITS.fullmatch(name):
        return EventKind.WAIT
    return EventKind.RUNTIME if _WORK_OF_HOROVOD.fullmatch(name) else EventKind.OPERATOR


READER = Reader("horovod", "Horovod's timeline (JSON)", claims, read)
