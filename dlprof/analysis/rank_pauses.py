"""Moments in which all ranks of a training but one stood still for that one: evaluation, saving, logging of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlprof.analysis.columns import Integers, Truths
from dlprof.analysis.stretches import Stretches

LEAST_NS = 20_000_000
LEAST_STEPS = 1.0
"""What is shorter than this, or than so many usual steps, belongs to the steps themselves."""
BESIDE_STRAGGLER = 3.0
"""So many where a rank is slow in each step: some of its steps are longer than the usual one."""
_MOSTLY = 2 / 3
"""Pauses for one rank are its doing if they are this share of the pauses for all: a busy machine makes some of each."""
_OFTEN = 0.05
_STOOD = 0.7
"""Where collectives are not seen: the others' steps must last for this share of the pause."""


@dataclass(frozen=True)
class Pauses:
    """Pauses, an array each.

    Attributes:
        rank: For whom all others stood still.
        until: When it came, on the clock in common (ns).
        lone_ns: For how long all others had stood still by then (ns).
        is_inferred: Told by when steps begin, because collectives are not seen.
    """

    rank: Integers
    until: Integers
    lone_ns: Integers
    is_inferred: bool = False

    def since(self, moment: int) -> Pauses:
        """Those that begin from a moment on: what ranks wait for each other before they train is their start."""
        return self._only(self.until - self.lone_ns >= moment)

    def apart_from(self, times: Stretches, share: float = 0.0) -> Pauses:
        """Those of which some stretches of time (ns on the clock in common) are no more than a share."""
        inside = times.lengths_within(self.until - self.lone_ns, self.until)
        return self._only(inside <= share * self.lone_ns)

    def _only(self, which: Truths) -> Pauses:
        return Pauses(self.rank[which], self.until[which], self.lone_ns[which], self.is_inferred)


@dataclass(frozen=True)
class LoneWork:
    """All long pauses for one rank.

    Attributes:
        rank: Which.
        times: (begin, end) of each on the clock in common (ns).
        is_inferred: As in `Pauses`.
    """

    rank: int
    times: tuple[tuple[int, int], ...]
    is_inferred: bool

    @property
    def total_ns(self) -> int:
        """All of them together (ns)."""
        return sum(end - begin for begin, end in self.times)

    def is_often(self, steps: int) -> bool:
        """Whether there is one in more than every twentieth step: then the rank is slow, step after step."""
        return len(self.times) > _OFTEN * steps


def of_collectives(ranks: Sequence[int], start: Integers, blocked_from: Integers) -> Pauses:
    """The pauses before collectives.

    Args:
        ranks: The rows.
        start: When each rank came, by rank and collective, on one clock (ns).
        blocked_from: From when on it stood still for it (ns).
    """
    last = start.argmax(axis=0)
    columns = np.arange(start.shape[1])
    others = blocked_from.copy()
    others[last, columns] = np.iinfo(np.int64).min
    until = start[last, columns]
    return Pauses(np.asarray(ranks, np.int64)[last], until, np.maximum(0, until - others.max(axis=0)))


def of_steps(ranks: Sequence[int], begin: Integers) -> Pauses:
    """The pauses before steps, where collectives are not seen: nobody begins the next step before the last one came.

    Args:
        ranks: The rows.
        begin: When each rank began each step, on one clock (ns); at least two steps.
    """
    now, after = begin[:, :-1], begin[:, 1:]
    last = now.argmax(axis=0)
    columns = np.arange(now.shape[1])
    others, their_next = now.copy(), after.copy()
    others[last, columns] = np.iinfo(np.int64).min
    their_next[last, columns] = np.iinfo(np.int64).max
    until = now[last, columns]
    came = others.max(axis=0)
    lone = np.maximum(0, until - came)
    stood = their_next.min(axis=0) - came >= _STOOD * lone
    return Pauses(np.asarray(ranks, np.int64)[last], until, np.where(stood, lone, 0), is_inferred=True)


def longest(pauses: Sequence[Pauses], step_ns: int, least_steps: float = LEAST_STEPS) -> LoneWork | None:
    """The rank that the others stood still for longest, in pauses that are longer than steps are.

    Args:
        pauses: All that there are.
        step_ns: A usual step.
        least_steps: Pauses that are shorter than so many are none.

    Returns:
        None: there are none, or they are not mostly for one rank.
    """
    least = max(LEAST_NS, least_steps * step_ns)
    found: dict[int, list[tuple[int, int]]] = {}
    for one in pauses:
        for place in np.flatnonzero(one.lone_ns >= least).tolist():
            until = int(one.until[place])
            found.setdefault(int(one.rank[place]), []).append((until - int(one.lone_ns[place]), until))
    if not found:
        return None
    merged = {rank: Stretches.of(times) for rank, times in found.items()}  # of two streams both may tell the same
    totals = {rank: times.ns for rank, times in merged.items()}
    rank = max(totals, key=lambda one: totals[one])
    if totals[rank] < _MOSTLY * sum(totals.values()):
        return None
    return LoneWork(rank, merged[rank].times, any(one.is_inferred for one in pauses))
