"""Which call launched which kernel, and which operator that call ran in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.kernels.nesting import Nest, levels, nest
from dlprof.ingest.kernels.trace import NONE, Integers, Kind


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


def link(columns: dict[str, npt.NDArray[Any]]) -> Linked:
    """Find the relations between events."""
    kind = columns["kind"]
    size = len(kind)
    rows = np.flatnonzero(np.isin(kind, (Kind.OPERATOR, Kind.RUNTIME, Kind.WAIT)) & (columns["device"] < 0))
    tree = nest(columns["lane"][rows], columns["start"][rows], columns["dur"][rows])
    tree = Nest(rows[tree.order], tree.lane, tree.start, tree.end, tree.parent, tree.depth, tree.overlapping)
    nested = np.zeros(size, np.int64)
    nested[tree.order] = tree.nested_ns()
    launch = _launches(columns)
    operator = np.full(size, NONE, np.int64)
    around = _operator_around(tree, kind)
    position = np.full(size, NONE, np.int64)
    position[tree.order] = np.arange(len(tree.order))
    device = np.flatnonzero(launch >= 0)
    operator[device] = around[position[launch[device]]]
    parent = np.full(size, NONE, np.int64)
    parent[tree.order] = around
    overlapping = int((tree.overlapping & (kind[tree.order] == Kind.OPERATOR)).sum())
    return Linked(tree, nested, launch, operator, parent, overlapping)


def _operator_around(tree: Nest, kind: Any) -> Integers:
    """The innermost operator around each event of the tree, as a position in the columns."""
    is_operator = kind[tree.order] == Kind.OPERATOR
    found = np.full(len(tree.order), NONE, np.int64)
    for level in levels(tree.depth)[1:]:
        at = level[tree.parent[level] >= 0]
        above = tree.parent[at]
        found[at] = np.where(is_operator[above], tree.order[above], found[above])
    return found


def _launches(columns: dict[str, npt.NDArray[Any]]) -> Integers:
    kind, links = columns["kind"], columns["link"]
    launch = np.full(len(kind), NONE, np.int64)
    calls = np.flatnonzero(np.isin(kind, (Kind.RUNTIME, Kind.WAIT)) & (links > NONE))
    device = np.flatnonzero(np.isin(kind, (Kind.KERNEL, Kind.TRANSFER)) & (links > NONE))
    if not len(calls) or not len(device):
        return launch
    order = calls[np.argsort(links[calls], kind="stable")]
    at = np.minimum(np.searchsorted(links[order], links[device]), len(order) - 1)
    same = links[order[at]] == links[device]
    launch[device[same]] = order[at[same]]
    return launch
