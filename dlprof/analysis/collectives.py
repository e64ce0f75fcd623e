"""The same collectives in several ranks, put together: who came last, how long the others waited, and the transfer.

A collective is over when the last rank has come and the data has been moved. So on one clock the time in which a rank
stands still for it has two parts: up to the coming of the last, and from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, integers
from dlprof.store.ranked import Member

_SAME_BOOT_NS = 1_000_000_000
"""Clocks of one machine began at one moment, as far as wall clocks tell."""
ERROR_NS = 1
"""Resolution of CLOCK_MONOTONIC, which all processes of a machine read."""
Stream = tuple[str, str]
"""Kind and process group: the n-th of a stream in one rank is the n-th in all."""


@dataclass(frozen=True)
class Clock:
    """How the clocks of ranks stand to each other.

    Attributes:
        offset_ns: Greatest offset between two of them (ns); None: not known.
        error_ns: How well that is known (ns); None where it is not.
        unknown: Why it is not known, as a clause; None: it is.
    """

    offset_ns: int | None
    error_ns: int | None
    unknown: str | None = None


def clock_of(members: Sequence[Member]) -> Clock:
    """One clock where all ranks ran on one machine; nothing is known of those of several."""
    hosts = {member.host for member in members}
    if len(hosts) > 1:
        return Clock(None, None, f"the clocks of {len(hosts)} machines were not compared")
    anchors = [member.run.manifest.clock.anchor_start for member in members]
    boots = [one.wall_ns - one.perf_ns for one in anchors if one is not None]
    if len(boots) < len(members):
        return Clock(None, None, "a rank does not tell when its clock began")
    if max(boots) - min(boots) > _SAME_BOOT_NS:
        return Clock(None, None, "the ranks ran on machines of one name whose clocks began at different times")
    return Clock(0, ERROR_NS)


@dataclass(frozen=True)
class Waits:
    """The collectives of a rank that all ranks of their group have.

    Attributes:
        start: When it came to each, on its run's own timeline (ns).
        wait: For how long it stood still up to the coming of the last rank (ns).
        transfer: From then to the end (ns).
    """

    start: Integers
    wait: Integers
    transfer: Integers


@dataclass(frozen=True)
class Arrivals:
    """When the ranks came to the collectives of one stream.

    Attributes:
        stream: Which.
        ranks: The rows of `times`.
        times: By rank and collective, on the one clock (ns).
        origins: The zero of each rank's own timeline, on that clock (ns).
    """

    stream: Stream
    ranks: tuple[int, ...]
    times: Integers
    origins: tuple[int, ...] = ()

    @property
    def spread(self) -> Integers:
        """From the first to come to the last, of each (ns)."""
        return np.asarray(self.times.max(axis=0) - self.times.min(axis=0), np.int64)

    def last_share(self) -> dict[int, float]:
        """Rank to the share of the collectives that it was the last to come to, 0 to 1."""
        last = np.bincount(self.times.argmax(axis=0), minlength=len(self.ranks))
        return {rank: float(count / self.times.shape[1]) for rank, count in zip(self.ranks, last, strict=True)}


@dataclass(frozen=True)
class Matched:
    """All that could be put together.

    Attributes:
        waits: By rank.
        arrivals: Of the stream in which the ranks stood still for longest; None: there is none.
        unknown: Why nothing is known of waits, as a clause; None: it is.
    """

    waits: Mapping[int, Waits] = field(default_factory=dict)
    arrivals: Arrivals | None = None
    unknown: str | None = None


def match(members: Sequence[Member], clock: Clock) -> Matched:
    """Put the collectives of ranks together.

    Args:
        members: The ranks.
        clock: How their clocks stand to each other.
    """
    if clock.unknown is not None:
        return Matched(unknown=clock.unknown)
    streams = _streams(members)
    if not streams:
        return Matched(unknown="no collectives of theirs were seen")
    origins = {member.rank: member.run.manifest.clock.origin_perf_ns for member in members}
    found: dict[int, list[Waits]] = {}
    arrivals, longest = None, -1
    for stream, by_rank in streams.items():
        joined = _joined(by_rank, origins)
        if joined is None:
            continue
        ranks, rows = joined
        zeros = tuple(origins[rank] for rank in ranks)
        waits = list(_split(rows, zeros))
        for rank, one in zip(ranks, waits, strict=True):
            found.setdefault(rank, []).append(one)
        blocked = sum(int(one.wait.sum() + one.transfer.sum()) for one in waits)
        if blocked > longest:
            arrivals, longest = Arrivals(stream, ranks, rows[0], zeros), blocked
    if arrivals is None:
        return Matched(unknown="no two ranks have a collective in common")
    return Matched({rank: _together(parts) for rank, parts in found.items()}, arrivals)


def _streams(members: Sequence[Member]) -> dict[Stream, dict[int, pa.Table]]:
    found: dict[Stream, dict[int, pa.Table]] = {}
    for member in members:
        rows = member.run.table("collectives")
        texts = [rows[name].cast(pa.string()) for name in ("kind", "process_group")]
        for kind, group in sorted({*zip(*(one.to_pylist() for one in texts), strict=True)}, key=str):
            own = rows.filter(pc.and_(pc.equal(texts[0], kind), pc.equal(texts[1], group)))
            found.setdefault((kind, group), {})[member.rank] = own
    return found


def _joined(
    by_rank: Mapping[int, pa.Table], origins: Mapping[int, int]
) -> tuple[tuple[int, ...], tuple[Integers, Integers, Integers]] | None:
    """Those that all ranks of a stream have: begin, begin of the standstill and end, by rank and collective."""
    if len(by_rank) < 2:
        return None
    ranks = tuple(sorted(by_rank))
    ordinals = [integers(by_rank[rank]["ordinal"]) for rank in ranks]
    common: npt.NDArray[np.int64] = reduce(np.intersect1d, ordinals)
    if not len(common):
        return None
    rows: list[list[Integers]] = [[], [], []]
    for rank, own in zip(ranks, ordinals, strict=True):
        order = np.argsort(own, kind="stable")
        places = order[np.searchsorted(own[order], common)]
        table = by_rank[rank]
        start, dur = integers(table["start_ns"])[places] + origins[rank], integers(table["dur_ns"])[places]
        blocked = integers(table["blocked_ns"])[places]
        for column, values in zip(rows, (start, start + dur - blocked, start + dur), strict=True):
            column.append(values)
    start, blocked_from, end = (np.stack(column) for column in rows)
    return ranks, (start, blocked_from, end)


def _split(rows: tuple[Integers, Integers, Integers], origins: Sequence[int]) -> Iterator[Waits]:
    starts, blocked, ends = rows
    last = starts.max(axis=0)
    for start, begin, end, origin in zip(starts, blocked, ends, origins, strict=True):
        wait = np.maximum(0, np.minimum(end, last) - begin)
        yield Waits(start - origin, wait, end - begin - wait)


def _together(parts: Sequence[Waits]) -> Waits:
    start, wait, transfer = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "wait", "transfer")
    )
    return Waits(start, wait, transfer)
