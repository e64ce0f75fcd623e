"""Runs of foreign traces out of literal events, for tests of what stands above the readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlprof.analysis import trace_phases, trace_steps
from dlprof.store.run import Run
from tests.unit.runs import MS, make, manifest, table


@dataclass(frozen=True)
class Event:
    """An event; times in ms."""

    kind: str
    name: str
    begin: float
    dur: float
    device: int = -1
    lane: str = "main"
    nested: float = 0
    delay: float | None = None
    category: str = "other"
    direction: str | None = None
    layer: str | None = None
    rank: int = 0
    window: int = 0


def kernel(name: str, begin: float, dur: float, category: str = "matmul", **more: Any) -> Event:
    """A kernel of GPU 0."""
    return Event("kernel", name, begin, dur, **{"device": 0, "lane": "stream 7", "category": category, **more})


def marked(name: str, begin: float, dur: float, **more: Any) -> Event:
    """A range with a name."""
    return Event("annotation", name, begin, dur, **more)


def foreign(path: Path, *events: Event, source: str = "kineto", wall: float | None = None) -> Run:
    """A run of these events, with its steps and phases, as an import makes it; each window is a file of `source`."""
    ends = [event.begin + event.dur for event in events]
    tables = {**_events(events), "sources": _sources(events, source)}
    told = manifest(state="imported", process={"wall_ns": _ns(wall if wall is not None else max(ends, default=0))})
    run = make(path, told, **tables)
    for name, rows in trace_phases.rows(run, trace_steps.find(run)).items():
        run._tables[name] = table(name, rows)
    return run


def _events(events: tuple[Event, ...]) -> dict[str, list[dict[str, Any]]]:
    keys = [(event.kind, event.name, event.category, event.direction, event.layer) for event in events]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    columns = ("kind", "name", "category", "direction", "layer")
    ops = [{"op_id": number, "op": key[1], **dict(zip(columns, key, strict=True))} for key, number in numbers.items()]
    rows = [
        {
            "op_id": numbers[key],
            "rank": event.rank,
            "window": event.window,
            "device": event.device,
            "lane": event.lane,
            "start_ns": _ns(event.begin),
            "dur_ns": _ns(event.dur),
            "nested_ns": _ns(event.nested),
            "delay_ns": None if event.delay is None else _ns(event.delay),
        }
        for key, event in zip(keys, events, strict=True)
    ]
    return {"kernel_ops": ops, "kernel_events": rows, "kernel_windows": _windows(events)}


def _windows(events: tuple[Event, ...]) -> list[dict[str, Any]]:
    windows = []
    for number in sorted({event.window for event in events}):
        own = [event for event in events if event.window == number]
        begin, end = min(event.begin for event in own), max(event.begin + event.dur for event in own)
        place = {"window": number, "rank": own[0].rank, "engine": "torch", "source": f"{number}.json", "dropped": 0}
        windows.append({**place, "start_ns": _ns(begin), "dur_ns": _ns(end) - _ns(begin)})
    return windows


def _sources(events: tuple[Event, ...], source: str) -> list[dict[str, Any]]:
    numbers = sorted({event.window for event in events})
    return [
        {"file": f"{number}.json", "format": source, "events": 1, "shift_ns": 0, "facts": "{}"} for number in numbers
    ]


def _ns(ms: float) -> int:
    return round(ms * MS)
