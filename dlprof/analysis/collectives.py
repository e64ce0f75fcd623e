"""The same collectives in several ranks, put together: who came last, how long the others waited, and the transfer.

A collective is over when the last rank has come and the data has been moved. So on one clock the time in which a rank
stands still for it has two parts: up to the coming of the last, and from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dlprof.analysis import collective_rows, rank_pauses
from dlprof.analysis.clocks import Clock, Placement
from dlprof.analysis.collective_rows import Stream
from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.rank_pauses import Pauses
from dlprof.store.ranked import Member


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
        places: Where each rank's own timeline lies on that clock.
    """

    stream: Stream
    ranks: tuple[int, ...]
    times: Integers
    places: tuple[Placement, ...] = ()

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
        pauses: When all ranks of a stream stood still for one, of each stream.
        over: Rank to when its last collective ended, on the one clock (ns).
    """

    waits: Mapping[int, Waits] = field(default_factory=dict)
    arrivals: Arrivals | None = None
    unknown: str | None = None
    pauses: tuple[Pauses, ...] = ()
    over: Mapping[int, int] = field(default_factory=dict)


def match(members: Sequence[Member], clock: Clock) -> Matched:
    """Put the collectives of ranks together.

    Args:
        members: The ranks.
        clock: How their clocks stand to each other.
    """
    if clock.unknown is not None:
        return Matched(unknown=clock.unknown)
    streams = collective_rows.streams(members)
    if not streams:
        return Matched(unknown="no collectives of theirs were seen")
    found: dict[int, list[Waits]] = {}
    pauses: list[Pauses] = []
    over: dict[int, int] = {}
    arrivals, longest = None, -1
    for stream, by_rank in streams.items():
        both = collective_rows.common(by_rank)
        if both is None:
            continue
        places = tuple(clock.placements[rank] for rank in both.ranks)
        start, blocked_from, end = (
            np.stack([place.placed(row) for place, row in zip(places, rows, strict=True)])
            for rows in (both.start, both.blocked_from, both.end)
        )
        waits = list(_split(both.start, start, blocked_from, end))
        for rank, one, ends in zip(both.ranks, waits, end, strict=True):
            found.setdefault(rank, []).append(one)
            over[rank] = max(over.get(rank, 0), int(ends.max()))
        if len(both.ranks) == len(members):
            pauses.append(rank_pauses.of_collectives(both.ranks, start, blocked_from))
        blocked = sum(int(one.wait.sum() + one.transfer.sum()) for one in waits)
        if blocked > longest:
            arrivals, longest = Arrivals(stream, both.ranks, start, places), blocked
    if arrivals is None:
        return Matched(unknown="no two ranks have a collective in common")
    waited = {rank: _together(parts) for rank, parts in found.items()}
    return Matched(waited, arrivals, pauses=tuple(pauses), over=over)


def alone(member: Member) -> Matched:
    """The collectives of a training of one rank: it waits for nobody, all its standing still is the transfer."""
    rows = member.run.table("collectives")
    blocked = integers(rows["blocked_ns"])
    start = integers(rows["start_ns"])
    return Matched({member.rank: Waits(start, np.zeros_like(blocked), blocked)})


def _split(own: Integers, starts: Integers, blocked: Integers, ends: Integers) -> Iterator[Waits]:
    """What each rank waited, and the transfer: `own` are its starts on its own timeline, the others on one clock."""
    last = starts.max(axis=0)
    for start, begin, end in zip(own, blocked, ends, strict=True):
        wait = np.maximum(0, np.minimum(end, last) - begin)
        yield Waits(start, wait, end - begin - wait)


def _together(parts: Sequence[Waits]) -> Waits:
    start, wait, transfer = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "wait", "transfer")
    )
    return Waits(start, wait, transfer)
