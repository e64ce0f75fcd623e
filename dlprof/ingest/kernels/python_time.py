"""Which functions of the user's a trace spends its time in while no operator runs, and what they call meanwhile.

Of a trace with functions of Python (`with_stack` of torch.profiler). The tables keep only the outermost ones, whose
time says no more than that Python ran.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dlprof.ingest.kernels.events import NONE, Booleans, Events, Integers
from dlprof.ingest.kernels.nesting import Nest, levels, merge, nest_events
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema import trace_marks
from dlprof.schema.vocabulary import EventKind

_PLACE = re.compile(r"(?P<file>.{1,4000})\((?P<line>\d{1,9})\): (?P<function>.{1,4000})")
"""How torch.profiler names a function of Python: `train.py(12): step`."""
_EVENTS_AT_MOST = 4_000_000
"""Of more host events in a trace nothing is told: they are looked at all at once."""
_TOP = 5
_AROUND = (EventKind.PYTHON, EventKind.ANNOTATION)
"""What may be around a function while no operator runs; all else is work, or a wait that has a name."""
_ON_DEVICE = (EventKind.KERNEL, EventKind.TRANSFER)


def longest(trace: Trace) -> list[dict[str, Any]]:
    """Functions of the user's on the thread that runs most operators, with the most time outside of operators.

    Returns:
        `file`, `line`, `function` and `ns` of each, and of the call in it with most of that `inner` and `inner_ns`, the
        longest first; empty where the trace has no functions, or too many events.
    """
    users = np.asarray([_is_users(name) for name in trace.names.values] or [False])
    if trace.size > _EVENTS_AT_MOST or not users.any():
        return []
    host = [chunk.select(~chunk.is_kind(*_ON_DEVICE)) for chunk in trace.events.chunks()]
    events = Events.concat(host)
    events = events.select(events.lane == _main_lane(events))
    if not events.is_kind(EventKind.PYTHON).any():
        return []
    python = events.select(events.is_kind(EventKind.PYTHON))
    tree = nest_events(python, np.arange(len(python)))
    name = python.name[tree.order].astype(np.int64)
    user = _nearest(tree, users[name])
    # Ranges begin and end in functions that open and close them, so that work is told by time, not by nesting.
    moments = np.unique(np.concatenate([tree.start, tree.end]))
    at = tree.at(np.full(len(moments) - 1, tree.lane[0], np.int64), moments[:-1])
    ns = _left(moments, events.select(~events.is_kind(*_AROUND)))
    chosen = np.flatnonzero((at != NONE) & (ns > 0))
    chosen = chosen[user[at[chosen]] != NONE]
    outer, inner = name[user[at[chosen]]], name[at[chosen]]
    sums: dict[int, dict[int, int]] = {}
    for one, call, time in zip(outer.tolist(), inner.tolist(), ns[chosen].tolist(), strict=True):
        below = sums.setdefault(one, {})
        below[call] = below.get(call, 0) + time
    texts = trace.names.values
    found = [_told(texts, one, below) for one, below in sums.items()]
    return sorted((one for one in found if one["ns"]), key=lambda one: -one["ns"])[:_TOP]


def _is_users(name: str) -> bool:
    return _PLACE.fullmatch(name) is not None and not trace_marks.is_of_library(name)


def _main_lane(events: Events) -> int:
    """The thread whose operators take longest."""
    operators = events.is_kind(EventKind.OPERATOR)
    chosen = operators if operators.any() else events.is_kind(EventKind.PYTHON)
    if not chosen.any():
        return NONE
    return int(np.bincount(events.lane[chosen], weights=events.dur[chosen]).argmax())


def _left(moments: Integers, work: Events) -> Integers:
    """How long nothing of the work goes on from each moment to the next (ns)."""
    begin, end = merge(work.start, work.ends)
    edges = np.stack([begin, end], axis=1).reshape(-1) if len(begin) else moments[:1]
    passed = (
        np.cumsum(np.stack([np.zeros(len(begin), np.int64), end - begin], axis=1).reshape(-1)) if len(begin) else [0]
    )
    zero = moments[0]  # of Unix times a float would lose digits
    busy = np.diff(np.interp(moments - zero, edges - zero, passed))
    return np.asarray(np.maximum(np.diff(moments) - np.rint(busy), 0), np.int64)


def _nearest(tree: Nest, wanted: Booleans) -> Integers:
    """The innermost wanted event around each, or itself, as a position in the tree, or NONE."""
    found = np.where(wanted, np.arange(len(wanted)), NONE)
    for level in levels(tree.depth)[1:]:
        open_ = level[(found[level] == NONE) & (tree.parent[level] >= 0)]
        found[open_] = found[tree.parent[open_]]
    return found


def _told(texts: Sequence[str], outer: int, below: dict[int, int]) -> dict[str, Any]:
    place = _PLACE.fullmatch(texts[outer])
    inner = max(below, key=lambda name: below[name])
    called = _PLACE.fullmatch(texts[inner])
    return {
        "file": place["file"] if place else "",
        "line": int(place["line"]) if place else 0,
        "function": place["function"] if place else texts[outer],
        "ns": sum(below.values()),
        "inner": called["function"] if called else texts[inner],
        "inner_ns": below[inner],
    }
