"""Reads what dlprof's own hooks recorded of Chainer: functions with their link and pass, in the format of Chrome."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.scopes import LayerPass
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import Args, ChromeFile, Event, as_ns, thread_number
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema.vocabulary import Direction, EventKind

CATEGORY = "chainer"
_NO_ARGS = Args()
_DIRECTIONS = {direction.value: direction for direction in Direction}


def claims(sample: Sample) -> bool:
    """Whether all events at the begin of a file are ours on Chainer."""
    head = sample.chrome
    return head is not None and bool(head.events) and all(event.cat == CATEGORY for event in head.events)


def read(path: Path) -> FileContent:
    """The functions of a trace; their scope tells link and pass.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "chainer", "chainer", attribution="scope")
    passed_over = PassedOver()
    for piece in source.pieces():
        trace.add_rows([_row(trace, event) for event in piece if event.ph == "X"])
        passed_over.add_all(event for event in piece if event.ph != "X")
    passed_over.tell(trace)
    source.judge(trace)
    return FileContent.of(trace)


def _row(trace: Trace, event: Event) -> EventRow:
    args = event.args or _NO_ARGS
    number = thread_number(event)
    return EventRow(
        EventKind.OPERATOR,
        trace.names.number(str(event.name)),
        as_ns(event.ts),
        max(0, as_ns(event.dur)),
        trace.lane(event.tid, Lane(0, number, f"thread {event.tid if isinstance(event.tid, int) else 0}")),
        scope=trace.scopes.number(LayerPass(str(args.name) if args.name else None, _DIRECTIONS.get(args.op or ""))),
    )


READER = Reader("chainer", "dlprof's own of Chainer (JSON)", claims, read)
