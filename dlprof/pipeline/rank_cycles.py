"""Which of several traces of a rank goes with those of other ranks: a profiler writes one for each of its cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A trace that was read.

    Attributes:
        number: Its place among the files, by their names.
        rank: Whose it is.
        begin_ns: Unix time of its begin (ns); None: it does not tell.
        dur_ns: How long it is (ns).
    """

    number: int
    rank: int
    begin_ns: int | None
    dur_ns: int

    def shared_ns(self, other: Candidate) -> int:
        """For how long both were taken (ns); nothing where one does not tell when it was."""
        if self.begin_ns is None or other.begin_ns is None:
            return 0
        ends = (self.begin_ns + self.dur_ns, other.begin_ns + other.dur_ns)
        return max(0, min(ends) - max(self.begin_ns, other.begin_ns))


def chosen(read: Sequence[Candidate]) -> Mapping[int, Candidate]:
    """One trace of each rank: those that were taken at one time, of most ranks and for longest; else the first ones."""
    by_rank = _by_rank(read)
    if all(len(own) == 1 for own in by_rank.values()):
        return {rank: own[0] for rank, own in by_rank.items()}
    # Those of one rank are enough to begin with: cycles that all ranks have are among them.
    first = min(by_rank.values(), key=lambda own: (-len(own), own[0].rank))
    sets = [{rank: _nearest(one, own) for rank, own in by_rank.items()} for one in first]
    return max(zip(sets, first, strict=True), key=lambda pair: _agreement(pair[1], pair[0]))[0]


def doubt(read: Sequence[Candidate], taken: Mapping[int, Candidate]) -> str | None:
    """What is to be said of the choice; None: each rank has one trace, or all were taken at one time."""
    by_rank = _by_rank(read)
    several = [rank for rank, own in by_rank.items() if len(own) > 1]
    if not several or len(taken) < 2:
        return None
    apart = [rank for rank, one in taken.items() if not any(one.shared_ns(two) for two in taken.values() if one != two)]
    if not apart:
        return None
    unknown = any(one.begin_ns is None for one in read)
    why = "do not all tell when they were taken" if unknown else f"of rank {min(apart)} share no time with the others"
    return (
        f"several traces of rank {min(several)}: the traces {why}, so that those which were taken need not belong "
        "together: import those of one cycle"
    )


def _by_rank(read: Sequence[Candidate]) -> dict[int, list[Candidate]]:
    by_rank: dict[int, list[Candidate]] = defaultdict(list)
    for one in sorted(read, key=lambda other: other.number):
        by_rank[one.rank].append(one)
    return by_rank


def _nearest(one: Candidate, own: Sequence[Candidate]) -> Candidate:
    """The trace of a rank that shares most time with one of another; the first of those that share none."""
    return one if one in own else max(own, key=one.shared_ns)


def _agreement(one: Candidate, others: Mapping[int, Candidate]) -> tuple[int, int]:
    """How many ranks share time with a trace, and how much."""
    shared = [one.shared_ns(other) for other in others.values() if other is not one]
    return sum(ns > 0 for ns in shared), sum(shared)
