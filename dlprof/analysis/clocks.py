"""How the clocks of ranks stand to each other: one on a machine, between machines by their collectives.

Nobody leaves a collective of all before the last one has come. So each collective that two ranks took part in bounds
how their clocks stand to each other from both sides: the end in one is not before the beginning in the other. All
bounds together hold the offset, whatever the network does; where in them it lies is told by the ends, which are nearly
at one moment. The error is how far it may be from there at any moment of the run (`clock_bounds`). Of backwards in DDP
the ends count, too, but they bound nothing; where there is nothing else the error is at least how far the ends are
apart, once the offset is taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.analysis.clock_bounds import MOST_DRIFT, Bounds
from dlprof.analysis.collective_rows import common, streams
from dlprof.analysis.columns import Floats, Integers, Truths
from dlprof.schema.vocabulary import RunState
from dlprof.store.ranked import Member

_SAME_BOOT_NS = 1_000_000_000
"""Clocks of one machine began at one moment, as far as wall clocks tell."""
ERROR_NS = 1
"""Resolution of CLOCK_MONOTONIC, which all processes of a machine read."""
_OF_ALL = ("all_reduce", "barrier", "all_gather", "reduce_scatter", "all_to_all")
"""Kinds of collectives that nobody leaves before all have come."""
_LOOSE = "backward"
"""The end of a backward in DDP: what a rank gives has left it before, so that others may go on before its beginning."""
_DRIFTING = 3.0
"""A drift below so many of its standard errors is none."""
_LEAST_OF_LINE = 20
"""Fewer collectives than this tell no drift."""


@dataclass(frozen=True)
class Placement:
    """Where a rank's own timeline lies on the clock in common: CLOCK_MONOTONIC of the lowest rank's machine.

    Attributes:
        shift_ns: Its zero, on that clock (ns).
        drift: By how much its clock goes faster, in parts of 1.
        pivot_ns: Where on its own timeline the two were compared (ns).
    """

    shift_ns: int
    drift: float = 0.0
    pivot_ns: int = 0

    def placed(self, own: Integers) -> Integers:
        """Moments of its own timeline on the common clock (ns)."""
        if not self.drift:
            return np.asarray(own + self.shift_ns, np.int64)
        return np.asarray(own + self.shift_ns - np.rint((own - self.pivot_ns) * self.drift), np.int64)

    def own(self, placed: Integers) -> Integers:
        """Moments of the common clock on its own timeline (ns)."""
        first = np.asarray(placed - self.shift_ns, np.int64)
        if not self.drift:
            return first
        return np.asarray(first + np.rint((first - self.pivot_ns) * self.drift / (1 - self.drift)), np.int64)


@dataclass(frozen=True)
class HostClock:
    """The clock of a machine against that of the lowest rank's.

    Attributes:
        offset_ns: What its wall clock showed more (ns).
        error_ns: How well that is known (ns).
        drift_ppm: By how much it goes faster (millionths); 0: no more than can be told.
        pairs: Collectives that tell it.
    """

    offset_ns: int
    error_ns: int
    drift_ppm: float
    pairs: int


@dataclass(frozen=True)
class Clock:
    """How the clocks of ranks stand to each other.

    Attributes:
        offset_ns: Greatest offset between the wall clocks of two of them (ns); None: not known.
        error_ns: How well that is known (ns); None where it is not.
        unknown: Why it is not known, as a clause; None: it is.
        placements: Rank to the place of its timeline on the common clock; empty where that is not known.
        hosts: Machine to its clock against the lowest rank's; empty where all ranks ran on one.
    """

    offset_ns: int | None
    error_ns: int | None
    unknown: str | None = None
    placements: Mapping[int, Placement] = field(default_factory=dict)
    hosts: Mapping[str, HostClock] = field(default_factory=dict)


class _NotKnownError(Exception):
    """The text is why, as a clause."""


@dataclass(frozen=True)
class _Host:
    """A machine: its ranks, and when its monotonic clock began by its wall clock (ns)."""

    name: str
    members: list[Member]
    boot_ns: int


def of_ranks(members: Sequence[Member]) -> Clock:
    """How the clocks of ranks stand to each other.

    Args:
        members: The ranks, at least one.
    """
    try:
        first, *others = _hosts(members)
        if not others:
            zeros = {one.rank: Placement(one.run.manifest.clock.origin_perf_ns) for one in members}
            return Clock(0, ERROR_NS, None, zeros)
        return _compared(first, others)
    except _NotKnownError as why:
        return Clock(None, None, str(why))


def _hosts(members: Sequence[Member]) -> list[_Host]:
    """The machines, that of the lowest rank first; those of one name are told by when their clocks began."""
    hosts: list[_Host] = []
    for member in sorted(members, key=lambda one: one.rank):
        anchor = member.run.manifest.clock.anchor_start
        if anchor is None:
            is_foreign = member.run.manifest.state == RunState.IMPORTED
            foreign = "the clocks of foreign traces are not compared"
            raise _NotKnownError(foreign if is_foreign else "a rank does not tell when its clock began")
        boot = anchor.wall_ns - anchor.perf_ns
        known = (
            one for one in hosts if one.members[0].host == member.host and abs(one.boot_ns - boot) <= _SAME_BOOT_NS
        )
        host = next(known, None)
        if host is None:
            same = sum(one.members[0].host == member.host for one in hosts)
            host = _Host(f"{member.host} ({same + 1})" if same else member.host, [], boot)
            hosts.append(host)
        host.members.append(member)
    return hosts


def _compared(first: _Host, others: Sequence[_Host]) -> Clock:
    """The clocks of several machines."""
    placements = {one.rank: Placement(one.run.manifest.clock.origin_perf_ns) for one in first.members}
    told = {}
    # Against one moment: nanoseconds since 1970 are more than a float tells apart.
    base = first.boot_ns + first.members[0].run.manifest.clock.origin_perf_ns
    for host in others:
        pairs = _pairs(first, host, base)
        if pairs is None:
            text = (
                f"the clock of {host.name} was not compared: no collective of all ranks is there of it and {first.name}"
            )
            raise _NotKnownError(text)
        clock, pivot = _between(pairs)
        told[host.name] = clock
        for one in host.members:
            origin = one.run.manifest.clock.origin_perf_ns
            nominal = origin + host.boot_ns - first.boot_ns
            pivot_ns = pivot + base - host.boot_ns - origin
            placements[one.rank] = Placement(nominal - clock.offset_ns, clock.drift_ppm / 1e6, pivot_ns)
    offsets = [0, *(one.offset_ns for one in told.values())]
    return Clock(
        offset_ns=max(offsets) - min(offsets),
        error_ns=max(one.error_ns for one in told.values()),
        placements=placements,
        hosts=told,
    )


@dataclass(frozen=True)
class _Pairs:
    """Collectives that a rank of a near machine and one of a far one took part in.

    Times are of the wall clock of each machine, from one moment on (ns); `is_bound` tells those that nobody leaves
    before all have come.
    """

    near_start: Integers
    near_end: Integers
    far_start: Integers
    far_end: Integers
    is_bound: Truths


def _pairs(first: _Host, host: _Host, base: int) -> _Pairs | None:
    """All that two machines have in common; None: nothing."""
    zeros = {
        one.rank: machine.boot_ns + one.run.manifest.clock.origin_perf_ns - base
        for machine in (first, host)
        for one in machine.members
    }
    here, there = ({one.rank for one in machine.members} for machine in (first, host))
    columns: list[tuple[Any, ...]] = []
    for (kind, _), tables in streams([*first.members, *host.members]).items():
        near, far = sorted(here & tables.keys()), sorted(there & tables.keys())
        if kind not in (*_OF_ALL, _LOOSE) or not near or not far:
            continue
        both = common({rank: tables[rank] for rank in (near[0], far[0])})
        if both is not None:
            rows = [(both.ranks.index(rank), zeros[rank]) for rank in (near[0], far[0])]
            times = tuple(times[row] + zero for row, zero in rows for times in (both.start, both.end))
            columns.append((*times, np.full(len(times[0]), kind != _LOOSE)))
    if not columns:
        return None
    return _Pairs(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def _between(pairs: _Pairs) -> tuple[HostClock, int]:
    """The far clock against the near one, and the moment, on the far wall clock, at which its offset counts (ns)."""
    pivot = int(np.median(pairs.far_end))
    times, apart = pairs.far_end - pivot, pairs.far_end - pairs.near_end
    bounds = _bounds(pairs, pivot)
    drift = _drift(times, apart)
    if drift and bounds.drifts is not None:
        least, greatest = bounds.drifts
        drift = min(max(drift, least), greatest)
    left = apart - drift * times
    likely, (low, high) = float(np.median(left)), bounds.offsets(drift)
    offset = round(min(max(likely, low), high)) if low <= high else round(likely)
    worst = max(bounds.farthest(offset, drift, float(moment)) for moment in (times.min(), 0, times.max()))
    if not pairs.is_bound.any():
        worst = max(worst, float(np.abs(left - offset).max()))
    return HostClock(offset, max(ERROR_NS, int(np.ceil(worst))), drift * 1e6, len(apart)), pivot


def _bounds(pairs: _Pairs, pivot: int) -> Bounds:
    """What the collectives say of the offset: those of which nobody goes before all have come, or all there are.

    The bound below is of the far rank's beginning, that above of its end: each has its own moment.
    """
    which = pairs.is_bound if pairs.is_bound.any() else ~pairs.is_bound
    low = (pairs.far_start - pairs.near_end)[which].astype(np.float64)
    high = (pairs.far_end - pairs.near_start)[which].astype(np.float64)
    begin, end = ((times - pivot)[which].astype(np.float64) for times in (pairs.far_start, pairs.far_end))
    none = np.full(len(low), np.inf)
    return Bounds(np.concatenate([begin, end]), np.concatenate([low, -none]), np.concatenate([none, high]))


def _drift(times: Integers, apart: Integers) -> float:
    """The slope of what lies between the ends of two ranks over time; 0 where noise explains it, or no clock would.

    Args:
        times: When (ns).
        apart: What lies between their ends (ns).
    """
    x, y = times.astype(np.float64), (apart - np.median(apart)).astype(np.float64)
    kept = np.ones(len(x), bool)
    slope, error = 0.0, 0.0
    for _ in range(3):
        if kept.sum() < _LEAST_OF_LINE:
            return 0.0
        slope, error, left = _line(x, y, kept)
        usual = 1.4826 * float(np.median(np.abs(left[kept])))
        kept = np.abs(left) <= max(3 * usual, 1.0)
    return slope if _DRIFTING * error < abs(slope) <= MOST_DRIFT else 0.0


def _line(x: Floats, y: Floats, kept: npt.NDArray[np.bool_]) -> tuple[float, float, Floats]:
    """Slope of the least squares, its standard error, and what is left of every point."""
    middle = x[kept] - x[kept].mean()
    spread = float((middle**2).sum())
    if not spread:
        return 0.0, 1.0, y
    slope = float((middle * y[kept]).sum() / spread)
    left = y - y[kept].mean() - slope * (x - x[kept].mean())
    error = float(np.sqrt((left[kept] ** 2).sum() / max(1, kept.sum() - 2) / spread))
    return slope, error, left
