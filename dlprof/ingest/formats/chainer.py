"""Reads what dlprof's own hooks recorded of Chainer: functions with their link and pass, in the format of Chrome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.ingest.kernels.trace import CPU, Foreign, Kind, Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns

CATEGORY = "chainer"


def claims(_top: dict[str, Any], events: list[Event]) -> bool:
    """Whether a file in the Chrome format, of which these are the first events, is one of ours on Chainer."""
    return bool(events) and all(event.cat == CATEGORY for event in events)


def read(path: Path) -> Foreign:
    """The functions of a trace; their scope tells link and pass.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "chainer", "chainer")
    found: dict[str, list[int]] = {name: [] for name in ("kind", "name", "start", "dur", "device", "lane", "scope")}
    for piece in source.pieces():
        for event in piece:
            if event.ph != "X":
                continue
            thread = event.tid if isinstance(event.tid, int) else 0
            layer, direction = (event.args.name, event.args.op) if event.args is not None else ("", "")
            found["kind"].append(Kind.OPERATOR)
            found["name"].append(trace.names.number(str(event.name)))
            found["start"].append(as_ns(event.ts))
            found["dur"].append(max(0, as_ns(event.dur)))
            found["device"].append(CPU)
            found["lane"].append(trace.lane(event.tid, Lane(0, thread % 2**62, f"thread {thread}")))
            found["scope"].append(trace.scopes.number(f"{layer or ''}\t{direction or ''}"))
    trace.add(**found)
    source.judge(trace)
    return Foreign("chainer", trace, facts=trace.facts, health=trace.health)
