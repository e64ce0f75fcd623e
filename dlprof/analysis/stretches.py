"""Stretches of time by whole columns: what several cover together, and what they share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dlprof.analysis.columns import Floats, Integers, Truths


@dataclass(frozen=True)
class Stretches:
    """Disjoint stretches of time in order: begin and end of each (ns)."""

    begin: Integers
    end: Integers

    @classmethod
    def covered(cls, start: Integers, end: Integers) -> Stretches:
        """The time that intervals cover together, which may overlap and come in any order."""
        if len(start) and (start[1:] < start[:-1]).any():
            order = np.argsort(start, kind="stable")
            start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        first = np.ones(len(start), bool)
        first[1:] = start[1:] > reach[:-1]
        last = np.ones(len(start), bool)
        last[:-1] = first[1:]
        return cls(start[first], reach[last])

    @classmethod
    def of(cls, times: Iterable[tuple[int, int]]) -> Stretches:
        """The time that pairs of begin and end (ns) cover together."""
        pairs = np.array(list(times), np.int64).reshape(-1, 2)
        return cls.covered(pairs[:, 0], pairs[:, 1])

    @property
    def times(self) -> tuple[tuple[int, int], ...]:
        """Begin and end of each (ns)."""
        return tuple(zip(self.begin.tolist(), self.end.tolist(), strict=True))

    @property
    def ns(self) -> int:
        """How long they are together (ns)."""
        return int((self.end - self.begin).sum())

    def hold(self, moments: Integers) -> Truths:
        """Whether moments (ns) are in one of them; the end of one is not in it."""
        if not len(self.begin):
            return np.zeros(len(moments), bool)
        place = np.searchsorted(self.begin, moments, side="right") - 1
        return (place >= 0) & (moments < self.end[place])

    def lengths_within(self, begin: Integers, end: Integers) -> Floats:
        """How much of the time between each two moments is in them (ns)."""
        if not len(self.begin):
            return np.zeros(len(begin))
        edges = np.stack([self.begin, self.end], axis=1).ravel()
        passed = np.cumsum(np.diff(edges, prepend=edges[:1]) * (np.arange(len(edges)) % 2))
        return np.asarray(np.interp(end, edges, passed) - np.interp(begin, edges, passed))

    def joined(self, other: Stretches) -> Stretches:
        """The time that is in these or in others."""
        return self.covered(np.concatenate((self.begin, other.begin)), np.concatenate((self.end, other.end)))

    def shared_ns(self, other: Stretches) -> int:
        """The time that is in both (ns)."""
        return self.ns + other.ns - self.joined(other).ns

    def within(self, begin_ns: int, end_ns: int) -> Stretches:
        """What of them is between two moments (ns)."""
        begin, end = np.maximum(self.begin, begin_ns), np.minimum(self.end, end_ns)
        inside = end > begin
        return Stretches(begin[inside], end[inside])

    def outside(self, begin_ns: int, end_ns: int) -> Stretches:
        """What is between two moments (ns) and in none of them."""
        cut = self.within(begin_ns, end_ns)
        begin, end = np.append(begin_ns, cut.end), np.append(cut.begin, end_ns)
        left = end > begin
        return Stretches(begin[left], end[left])
