"""Reads traces of CNTK's performance profiler: Chrome JSON, with the time of every node where that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import Health
from dlprof.ingest.kernels.trace import CPU, Foreign, Kind, Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns

_WRAPPED = 2.0**63
"""Times before the profiler was last enabled are written as if they had no sign."""


def claims(_top: dict[str, Any], events: list[Event]) -> bool:
    """Whether a file in the Chrome format, of which these are the first events, is one of CNTK's."""
    return bool(events) and all(event.cat == "PERF" and event.ph in ("B", "E") for event in events)


def read(path: Path) -> Foreign:
    """The nodes of a trace, and the passes around them. The clock begins when the profiler was enabled.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "cntk", "cntk")
    events = [event for piece in source.pieces() for event in piece if event.ph in ("B", "E")]
    _add(trace, events)
    source.judge(trace)
    return Foreign("cntk", trace, facts=trace.facts, health=trace.health)


def _add(trace: Trace, events: list[Event]) -> None:
    """Pair begins and ends; the file is not in order of time."""
    open_: dict[Any, list[float]] = {}
    found: dict[str, list[int]] = {name: [] for name in ("kind", "name", "start", "dur", "device", "lane")}
    unpaired = 0
    # At one moment: ends before begins, but a begin before its own end.
    events = sorted(events, key=_time)
    for event in events:
        key = (event.pid, event.tid, event.name)
        if event.ph == "B":
            open_.setdefault(key, []).append(_time(event))
        elif open_.get(key):
            start, name = open_[key].pop(), str(event.name)
            thread = event.tid if isinstance(event.tid, int) else 0
            lane = trace.lane((event.pid, event.tid), Lane(0, thread % 2**62, f"thread {thread}"))
            found["kind"].append(Kind.ANNOTATION if name.startswith("_") else Kind.OPERATOR)
            found["name"].append(trace.names.number(name))
            found["start"].append(as_ns(start))
            found["dur"].append(as_ns(_time(event)) - as_ns(start))
            found["device"].append(CPU)
            found["lane"].append(lane)
        else:
            unpaired += 1
    trace.add(**found)
    unpaired += sum(len(starts) for starts in open_.values())
    if unpaired:
        text = f"{unpaired} events of {trace.path.name} have a begin without an end, or the other way."
        trace.health.append(Health("trace-unpaired", "info", text, unpaired))
        trace.dropped += unpaired


def _time(event: Event) -> float:
    return event.ts - 2.0**64 if event.ts > _WRAPPED else event.ts
