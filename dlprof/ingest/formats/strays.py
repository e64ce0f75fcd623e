"""Passes over events of a file that lie hours away from all others: a time that was not set, or one of another clock.

One event at zero, in a trace whose clock counts from 1970, would make the trace last for decades.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlprof.ingest.formats.base import FileContent
from dlprof.ingest.kernels.event_store import EventStore
from dlprof.ingest.kernels.events import Booleans, Events, Integers
from dlprof.ingest.kernels.trace import Trace

_APART_NS = 3600 * 10**9
"""Programs may do nothing that is traced for minutes, ..."""
_TIMES = 100
"""... or in most of a trace. What is so many times as far away as all others are from each other is not of it."""
_SHARE = 0.01
"""The largest share of the events that is taken for stray; a single one is, whatever its share."""
_FEW = 10
"""Of fewer events nobody can say which of them are wrong."""


@dataclass(frozen=True)
class _Rest:
    """The stretch in which events are kept (ns)."""

    begin: int
    end: int
    apart_ns: int

    def holds(self, events: Events) -> Booleans:
        """Whether each event begins in it."""
        inside: Booleans = (events.start >= self.begin) & (events.start <= self.end)
        return inside


def pass_over(content: FileContent) -> FileContent:
    """The content of a file without its stray events, which are counted."""
    traces = [one.trace for one in (content, *content.others) if one.trace is not None and one.trace.sums is None]
    rest = _rest([trace for trace in traces if trace.size])
    if rest is None:
        return content
    before = sum(trace.size for trace in traces)
    for trace in traces:
        _keep(trace, rest)
    _tell(traces, rest, before - sum(trace.size for trace in traces))
    first, *others = [
        one
        for one in (content, *content.others)
        if not (one.trace is not None and one.trace.sums is None) or one.trace.size
    ]
    return replace(first, others=others, skipped=content.skipped)


def _tell(traces: Sequence[Trace], rest: _Rest, count: int) -> None:
    """Say what was passed over, to the first process that is left; and to it what is said of the whole file."""
    told = next(trace for trace in traces if trace.size)
    if told is not traces[0]:
        told.health, told.dropped = traces[0].health, traces[0].dropped
    text = (
        f"{count} events of {told.path.name} lie {rest.apart_ns / 3.6e12:.0f} h or more away from all others, which "
        f"begin within {(rest.end - rest.begin) / 1e9:.3g} s: their times are taken for wrong, and they were "
        "passed over."
    )
    told.drop("trace-stray", "warning", text, count)


def _rest(traces: Sequence[Trace]) -> _Rest | None:
    """Where all events lie but stray ones; None: there are no stray ones."""
    firsts = [trace.first_ns for trace in traces if trace.first_ns is not None]
    lasts = [trace.last_ns for trace in traces if trace.last_ns is not None]
    if not firsts or max(lasts) - min(firsts) < _APART_NS:
        return None
    start, end = _times(traces)
    low, high, apart = 0, len(start), 0
    while high - low >= _FEW:
        reach = np.maximum.accumulate(end[low:high])
        gaps = start[low + 1 : high] - reach[:-1]
        at = int(gaps.argmax())
        is_front = at + 1 <= (high - low) // 2
        fewer = at + 1 if is_front else high - low - at - 1
        kept = (low + at + 1, high) if is_front else (low, low + at + 1)
        span = int(end[kept[0] : kept[1]].max() - start[kept[0]])
        gap = int(gaps[at])
        if gap < max(_APART_NS, _TIMES * span) or fewer > max(1, _SHARE * len(start)):
            break
        (low, high), apart = kept, min(apart or gap, gap)
    return _Rest(int(start[low]), int(start[high - 1]), apart) if apart else None


def _times(traces: Sequence[Trace]) -> tuple[Integers, Integers]:
    """Begin and end of all events, in order of begin (ns)."""
    chunks = [chunk for trace in traces for chunk in trace.events.chunks()]
    start = np.concatenate([chunk.start for chunk in chunks])
    order = np.argsort(start, kind="stable")
    return start[order], np.concatenate([chunk.ends for chunk in chunks])[order]


def _keep(trace: Trace, rest: _Rest) -> None:
    kept = EventStore()
    for chunk in trace.events.chunks():
        kept.add(chunk.select(rest.holds(chunk)), counted=False)
    trace.events.clear()
    trace.events = kept
