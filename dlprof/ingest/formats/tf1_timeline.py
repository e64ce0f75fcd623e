"""Reads the timelines of TensorFlow 1 (`timeline.Timeline` of RunMetadata): Chrome JSON with a row per device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome import ChromeFile, Event
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.ingest.parse.tf1_rows import Tf1Rows, is_row

_EVENT_BYTES = 700
"""An event with its arguments, and its row; all are held, for the rows of a timeline tell the same work (bytes)."""


def claims(sample: Sample) -> bool:
    """Whether a file has the rows of a timeline of TensorFlow 1."""
    head = sample.chrome
    if head is None:
        return False
    processes = (e.args.name for e in head.events if e.ph == "M" and e.name == "process_name" and e.args is not None)
    return any(is_row(str(name)) for name in processes)


def read(path: Path) -> FileContent:
    """The operators and kernels of a timeline, each once.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "tf1-timeline", "tensorflow", attribution="path", zero_ns=0)
    rows: dict[Any, str] = {}
    events: list[Event] = []
    passed_over = PassedOver()
    for piece in source.pieces():
        for event in piece:
            if event.ph == "M" and event.name == "process_name" and event.args is not None:
                rows[event.pid] = str(event.args.name)
            elif event.ph == "X":
                budget().hold(_EVENT_BYTES, "events")
                events.append(event)
            else:
                passed_over.add(event)
    passed_over.tell(trace)
    trace.add_rows(Tf1Rows(trace, rows).events(events))
    source.judge(trace)
    return FileContent.of(trace)


READER = Reader("tf1-timeline", "timeline of TensorFlow 1 (JSON)", claims, read)
