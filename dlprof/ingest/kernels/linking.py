"""Which call launched which kernel, and which operator that call ran in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlprof.ingest.kernels.events import NONE, Events, Integers
from dlprof.ingest.kernels.nesting import Nest, levels, nest_events
from dlprof.schema.vocabulary import EventKind


@dataclass(frozen=True)
class Linked:
    """Relations between the events of a trace; positions count in its columns.

    Attributes:
        host: What runs inside what on the host: operators, calls of runtimes, waits.
        nested: Time of each event's direct children (ns).
        launch: The call that launched each kernel or copy, or NONE.
        operator: The innermost operator around that call, or NONE.
        parent: The operator around each operator or call of the host, or NONE.
        overlapping: Operators that began inside another event and ended after it; calls of runtimes often do.
    """

    host: Nest
    nested: Integers
    launch: Integers
    operator: Integers
    parent: Integers
    overlapping: int


def link(events: Events) -> Linked:
    """Find the relations between events."""
    tree = _host_tree(events)
    launch = _launches(events)
    around = _operator_around(tree, events.kind)
    nested, position, parent, operator = (np.full(len(events), value, np.int64) for value in (0, NONE, NONE, NONE))
    nested[tree.order] = tree.nested_ns()
    position[tree.order] = np.arange(len(tree.order))
    parent[tree.order] = around
    device = np.flatnonzero(launch >= 0)
    operator[device] = around[position[launch[device]]]
    overlapping = int((tree.overlapping & (events.kind[tree.order] == EventKind.OPERATOR)).sum())
    return Linked(tree, nested, launch, operator, parent, overlapping)


def _host_tree(events: Events) -> Nest:
    """What runs inside what on the host; its order counts in all events."""
    host = events.is_kind(EventKind.OPERATOR, EventKind.RUNTIME, EventKind.WAIT) & (events.device < 0)
    rows = np.flatnonzero(host)
    tree = nest_events(events, rows)
    return replace(tree, order=rows[tree.order])


def _operator_around(tree: Nest, kind: Any) -> Integers:
    """The innermost operator around each event of the tree, as a position in the columns."""
    is_operator = kind[tree.order] == EventKind.OPERATOR
    around = np.full(len(tree.order), NONE, np.int64)
    for level in levels(tree.depth)[1:]:
        at = level[tree.parent[level] >= 0]
        above = tree.parent[at]
        around[at] = np.where(is_operator[above], tree.order[above], around[above])
    return around


def _launches(events: Events) -> Integers:
    links = events.link
    launch = np.full(len(events), NONE, np.int64)
    calls = np.flatnonzero(events.is_kind(EventKind.RUNTIME, EventKind.WAIT) & (links > NONE))
    device = np.flatnonzero(events.is_kind(EventKind.KERNEL, EventKind.TRANSFER) & (links > NONE))
    if not len(calls) or not len(device):
        return launch
    order = calls[np.argsort(links[calls], kind="stable")]
    at = np.minimum(np.searchsorted(links[order], links[device]), len(order) - 1)
    same = links[order[at]] == links[device]
    launch[device[same]] = order[at[same]]
    return launch
