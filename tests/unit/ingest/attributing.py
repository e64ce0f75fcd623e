"""Traces of a few events, and what attribution makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dlprof.ingest.attribution import registry
from dlprof.ingest.attribution.labels import Label, Labels, Model
from dlprof.ingest.kernels.events import CPU, Events
from dlprof.ingest.kernels.linking import link
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import EventKind

MODEL = Model(("dense_1", "dense_2", "dense_1_1"), ("sequential",), ("rm_sprop", "RMSprop"))
Row = tuple[EventKind, str, int, int, int, int, int]
"""EventKind, name, start, duration, device, lane, link."""


def make_trace(rows: Sequence[Row], attribution: str) -> Trace:
    """A trace of these events; lane 2 is a stream of GPU 0, the others are threads."""
    trace = Trace(Path("t.json"), "kineto", "torch", attribution)
    for number, device in ((0, CPU), (1, CPU), (2, 0)):
        trace.lane(number, Lane(0, number, str(number), device))
    add(trace, rows)
    return trace


def add(trace: Trace, rows: Sequence[Row]) -> None:
    """Add events to a trace."""
    kind, name, start, dur, device, lane, links = zip(*rows, strict=True)
    numbers = [trace.names.number(text) for text in name]
    trace.add(kind=kind, name=numbers, start=start, dur=dur, device=device, lane=lane, link=links)


def attributed(trace: Trace, model: Model) -> tuple[Events, Labels]:
    """The events of a trace, which are given up, and their labels."""
    events = trace.events.take()
    attributor = registry.named(trace.attribution).begin(trace, model)
    return events, attributor.labels(events, link(events))


def labelled(trace: Trace, model: Model = MODEL) -> list[tuple[str, Label | None, str | None]]:
    """Name, label and operator of every event."""
    events, labels = attributed(trace, model)
    return [
        (trace.names[n], labels.labels[label] if label >= 0 else None, labels.ops[op] if op >= 0 else None)
        for n, label, op in zip(events.name.tolist(), labels.label.tolist(), labels.op.tolist(), strict=True)
    ]
