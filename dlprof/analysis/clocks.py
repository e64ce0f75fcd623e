"""How the clocks of ranks stand to each other: one on a machine, between machines by their collectives.

Nobody leaves a collective of all before the last one has come. So each collective that two ranks took part in bounds
how their clocks stand to each other from both sides: the end in one is not before the beginning in the other. All
bounds together hold the offset, whatever the network does; where in them it lies is told by the ends, which are nearly
at one moment. The error is the distance to the farther bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dlprof.analysis.collective_rows import Common, common, streams
from dlprof.analysis.columns import Floats, Integers
from dlprof.store.ranked import Member

_SAME_BOOT_NS = 1_000_000_000
"""Clocks of one machine began at one moment, as far as wall clocks tell."""
ERROR_NS = 1
"""Resolution of CLOCK_MONOTONIC, which all processes of a machine read."""
_OF_ALL = ("backward", "all_reduce", "barrier", "all_gather", "reduce_scatter", "all_to_all")
"""Kinds of collectives that nobody leaves before all have come."""
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
            raise _NotKnownError("a rank does not tell when its clock began")
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
    for host in others:
        found = _best([*first.members, *host.members], first, host)
        if found is None:
            text = (
                f"the clock of {host.name} was not compared: no collective of all ranks is there of it and {first.name}"
            )
            raise _NotKnownError(text)
        clock, pivot_ns = found
        told[host.name] = clock
        for one in host.members:
            origin = one.run.manifest.clock.origin_perf_ns
            nominal = origin + host.boot_ns - first.boot_ns
            placements[one.rank] = Placement(nominal - clock.offset_ns, clock.drift_ppm / 1e6, pivot_ns - origin)
    offsets = [0, *(one.offset_ns for one in told.values())]
    return Clock(
        offset_ns=max(offsets) - min(offsets),
        error_ns=max(one.error_ns for one in told.values()),
        placements=placements,
        hosts=told,
    )


def _best(members: Sequence[Member], first: _Host, host: _Host) -> tuple[HostClock, int] | None:
    """The clock of a machine by the stream that tells it best, and where it was compared on its own CLOCK_MONOTONIC."""
    by_rank = {one.rank: one.run.manifest.clock.origin_perf_ns for one in members}
    here, there = {one.rank for one in first.members}, {one.rank for one in host.members}
    found: list[tuple[HostClock, int]] = []
    for (kind, _), tables in streams(members).items():
        near, far = sorted(here & tables.keys()), sorted(there & tables.keys())
        if kind not in _OF_ALL or not near or not far:
            continue
        both = common({rank: tables[rank] for rank in (near[0], far[0])})
        if both is not None:
            order = [both.ranks.index(rank) for rank in (near[0], far[0])]
            zeros = (by_rank[near[0]] + first.boot_ns, by_rank[far[0]] + host.boot_ns)
            clock, pivot = _between(both, order, zeros)
            found.append((clock, pivot - host.boot_ns))
    return min(found, key=lambda one: one[0].error_ns, default=None)


def _between(both: Common, order: Sequence[int], zeros: tuple[int, int]) -> tuple[HostClock, int]:
    """The far clock against the near one, by one stream.

    Args:
        both: The collectives of a near rank and a far one.
        order: Their rows in it.
        zeros: The zeros of their timelines, each by the wall clock of its machine (ns).

    Returns:
        The clock, and the moment, on the far wall clock, at which its offset counts (ns).
    """
    near = order[0]
    # Against one moment: nanoseconds since 1970 are more than a float tells apart.
    base = zeros[0] + int(both.end[near][0])
    starts = [both.start[row] + (zero - base) for row, zero in zip(order, zeros, strict=True)]
    ends = [both.end[row] + (zero - base) for row, zero in zip(order, zeros, strict=True)]
    pivot = int(np.median(ends[1]))
    drift = _drift(ends[1] - pivot, ends[1] - ends[0])
    far_start = starts[1] - drift * (starts[1] - pivot)
    far_end = ends[1] - drift * (ends[1] - pivot)
    low, high = float((far_start - ends[0]).max()), float((far_end - starts[0]).min())
    likely = float(np.median(far_end - ends[0]))
    offset = round(min(max(likely, low), high)) if low <= high else round(likely)
    error = max(ERROR_NS, int(np.ceil(max(abs(high - offset), abs(offset - low)))))
    return HostClock(offset, error, drift * 1e6, both.end.shape[1]), pivot + base


def _drift(times: Integers, apart: Integers) -> float:
    """The slope of what lies between the ends of two ranks over time; 0 where noise explains it.

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
    return slope if abs(slope) > _DRIFTING * error else 0.0


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
