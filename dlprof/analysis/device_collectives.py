"""Collectives on devices: the same kernel in several ranks, put together, whatever their clocks show.

A kernel of a collective runs in each rank until the last one has come and the data has been moved. So the rank in which
it is shortest came last, and what it is longer in the others is their wait for that one. The same holds for an operator
of the host that is a collective inside of a compiled program, such as those of XLA on a CPU, and for the range that a
thread of the host leaves which exchanges values (`gloo:all_reduce`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Integers, integers
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import MarkSort
from dlprof.schema.vocabulary import Category, EventKind, Loop, RunState
from dlprof.store.ranked import Member
from dlprof.store.run import Run

_HANDS_ON = "c10d::"
"""Operators that only hand a collective on to a thread, which then waits in one of its own."""


@dataclass(frozen=True)
class DeviceCollectives:
    """Kernels of collectives that all ranks have, the n-th of a name in each; times are sums of all traced ones (ns).

    Attributes:
        count: How many in each rank.
        wait_ns: Rank to the time in them before the last rank had come.
        transfer_ns: The time in them from then on, the same in all.
        last_share: Rank to the share of them that it came last to, 0 to 1.
        spread_ns: Median of the time from the first rank to the last that came to one.
        unknown: Why nothing is known, as a clause; None: it is.
        steps: Train steps that they are of, where kernel windows have them; None: all that a foreign trace has.
    """

    count: int = 0
    wait_ns: Mapping[int, int] = field(default_factory=dict)
    transfer_ns: int = 0
    last_share: Mapping[int, float] = field(default_factory=dict)
    spread_ns: int | None = None
    unknown: str | None = None
    steps: int | None = None


@dataclass(frozen=True)
class _Windows:
    """The windows in which all ranks traced the same steps, by their numbers, and how many steps those are.

    In others the n-th collective of one rank would be another one's m-th.
    """

    numbers: tuple[int, ...]
    steps: int


def match(members: Sequence[Member]) -> DeviceCollectives:
    """Put the collectives on the devices of ranks together.

    Args:
        members: The ranks.
    """
    windows = _windows(members)
    by_rank = {member.rank: _durations(member.run, windows) for member in members}
    if len(members) < 2 or not any(by_rank.values()):
        return DeviceCollectives(unknown="no collectives on devices were traced in two ranks")
    if _are_apart(members):
        return DeviceCollectives(unknown="the traces of the ranks were not taken at one time")
    names = set.intersection(*(set(found) for found in by_rank.values()))
    # Of another number in some rank nobody knows which belong together.
    whole = sorted(name for name in names if len({len(found[name]) for found in by_rank.values()}) == 1)
    if not whole:
        return DeviceCollectives(unknown="the traces of the ranks do not hold the same collectives on devices")
    ranks = sorted(by_rank)
    dur = np.stack([np.concatenate([by_rank[rank][name] for name in whole]) for rank in ranks])
    shortest = dur.min(axis=0)
    last = np.bincount(dur.argmin(axis=0), minlength=len(ranks)) / dur.shape[1]
    return DeviceCollectives(
        count=dur.shape[1],
        wait_ns={rank: int(row.sum()) for rank, row in zip(ranks, dur - shortest, strict=True)},
        transfer_ns=int(shortest.sum()),
        last_share={rank: float(share) for rank, share in zip(ranks, last, strict=True)},
        spread_ns=int(np.median(dur.max(axis=0) - shortest)),
        steps=None if windows is None else windows.steps,
    )


def _are_apart(members: Sequence[Member]) -> bool:
    """Whether foreign traces of two ranks of one machine share no time: then they hold other collectives."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for member in members:
        told = member.run.manifest
        begin, dur = told.clock.origin_wall_ns, told.process.wall_ns
        if told.state == RunState.IMPORTED and begin is not None and dur:
            spans.setdefault(member.host, []).append((begin, begin + dur))
    return any(max(begin for begin, _ in own) >= min(end for _, end in own) for own in spans.values())


def _windows(members: Sequence[Member]) -> _Windows | None:
    """The windows that all ranks have alike; None: there are none but those of foreign traces."""
    told = []
    for member in members:
        rows = [row for row in member.run.rows("kernel_windows") if row["loop"] is not None]
        told.append({(row["window"], row["loop"], row["first_step"], row["steps"]) for row in rows})
    if not any(told):
        return None
    same = sorted(set.intersection(*told))
    return _Windows(tuple(row[0] for row in same), sum(row[3] or 0 for row in same if row[1] == Loop.TRAIN))


def _durations(run: Run, windows: _Windows | None) -> dict[str, Integers]:
    """Name of a kernel that is a collective to how long each ran (ns), by its start; else of operators, of ranges."""
    collectives = [row for row in run.rows("kernel_ops") if row["category"] == Category.COLLECTIVE]
    kernels = {row["op_id"]: row["name"] for row in collectives if row["kind"] == EventKind.KERNEL.word}
    ops = kernels or {
        row["op_id"]: row["name"]
        for row in collectives
        if row["kind"] == EventKind.OPERATOR.word and not row["name"].startswith(_HANDS_ON)
    }
    ops = ops or _ranges(run)
    if not ops:
        return {}
    events = run.table("kernel_events", ("op_id", "device", "start_ns", "dur_ns", "window"))
    own = np.isin(integers(events["op_id"]), list(ops))
    if kernels:
        own &= integers(events["device"]) >= 0
    if windows is not None:
        own &= np.isin(integers(events["window"]), windows.numbers)
    events = events.filter(pa.array(own)).sort_by("start_ns")
    op, dur = integers(events["op_id"]), integers(events["dur_ns"])
    # One name may have several numbers: the same kernel of several operators.
    names = np.array([ops[int(number)] for number in op], object)
    return {name: dur[names == name] for name in dict.fromkeys(names.tolist())}


def _ranges(run: Run) -> dict[int, str]:
    """Numbers and names of the ranges of threads that exchange values."""
    ops = run.rows("kernel_ops")
    marks = trace_marks.of_ops(ops)
    return {
        row["op_id"]: row["name"]
        for row in ops
        if row["op_id"] in marks and marks[row["op_id"]].sort is MarkSort.COLLECTIVE
    }
