"""In which leaf phase of the main thread a stretch of time lies."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Integers, Truths, integers
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Phase, known_phase

_CALLED = (Tree.FIT_VALIDATION, Tree.EVALUATE, Tree.PREDICT, Tree.SAVE, Tree.TEARDOWN)
"""Phases that begin and end with a call: what was sampled before one, or in it, stands no longer on the other side."""
_BEFORE_STEPS, _STEPS = (Tree.IMPORT,), (Tree.FIT_STEPS,)
"""Nor does what was sampled in one of the former stand in a step later on: modules are imported before it began."""
_FAR = 1 << 62
"""No time lies beyond it (ns); what a damaged table tells may."""


class PhaseLookup:
    """The leaf phases of a run, to look stretches of time up in.

    Args:
        intervals: Table `phase_intervals`.
    """

    def __init__(self, intervals: pa.Table) -> None:
        start = integers(intervals["start_ns"])
        self._starts, self._ends = start, start + integers(intervals["dur_ns"])
        texts = intervals["phase"].cast(pa.string()).combine_chunks().dictionary_encode()
        self.phases: list[str] = texts.dictionary.to_pylist()
        """Names of phases; `shares` has their places."""
        self._phase = np.asarray(texts.indices.to_numpy(zero_copy_only=False), np.int64)
        places = [tree_paths.root_of(known_phase(name)) for name in self.phases]
        self._calls = np.array([_call_of(place) for place in places], np.int64)
        self._before_steps, self._in_steps = (
            np.array([any(one.holds(place) for one in kind) for place in places], bool)
            for kind in (_BEFORE_STEPS, _STEPS)
        )

    @property
    def is_empty(self) -> bool:
        """Whether the run has no phases, as one of foreign traces."""
        return not len(self._starts)

    def are_alike(self, moments: Integers, others: Integers) -> Truths:
        """Whether at each moment and at another one the top phase is the same, or one of both is dlprof's own."""
        if self.is_empty:
            return np.ones(len(moments), bool)
        tops = np.array([(known_phase(name).parent or known_phase(name)).value for name in self.phases], object)
        mine, theirs = (tops[self._phase[self._place(times)]] for times in (moments, others))
        return np.asarray((mine == theirs) | (mine == Phase.DLPROF.value) | (theirs == Phase.DLPROF.value), bool)

    def _place(self, moments: Integers) -> Integers:
        return np.maximum(np.searchsorted(self._starts, moments, side="right") - 1, 0)

    def shares(self, begin: Integers, end: Integers) -> tuple[Integers, Integers, Integers]:
        """The parts of many stretches [begin, end) that lie in each stretch of a phase, in their order.

        Returns:
            Which of the stretches it is of, the phase as a place in `phases`, and the length (ns), an array each.
        """
        low = np.maximum(np.searchsorted(self._starts, begin, side="right") - 1, 0)
        high = np.maximum(np.searchsorted(self._starts, end, side="left"), low)
        count = high - low
        of = np.repeat(np.arange(len(begin)), count)
        place = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + low[of]
        dur = np.minimum(end[of], self._ends[place]) - np.maximum(begin[of], self._starts[place])
        some = dur > 0
        return of[some], self._phase[place[some]], dur[some]

    def seen_in(self, of: Integers, phase: Integers) -> Integers:
        """The phases of what `shares` gave of sampled stacks of the main thread.

        A stack stands until the next sample, which may be a second away: where the thread has begun or ended a call
        meanwhile that is a phase of its own, what follows is of the phase in which it was seen.
        """
        _, first, row = np.unique(of, return_index=True, return_inverse=True)
        seen = phase[first][row.reshape(-1)] if len(of) else phase
        stands = (self._calls[phase] == self._calls[seen]) & ~(self._before_steps[seen] & self._in_steps[phase])
        return np.where(stands, phase, seen)

    def cut(self, begin: int, end: int) -> list[tuple[str, int]]:
        """The parts of [begin, end) that lie in each stretch of a phase, in order of time, with their length (ns)."""
        edges = (np.array([min(max(edge, -_FAR), _FAR)], np.int64) for edge in (begin, end))
        _, phases, dur = self.shares(*edges)
        return [(self.phases[phase], ns) for phase, ns in zip(phases.tolist(), dur.tolist(), strict=True)]

    def by_place(self, intervals: Iterable[tuple[int, int]]) -> dict[TreePath, int]:
        """Time of some intervals, (begin, end), by the place of the phase that it lies in (ns)."""
        times: dict[TreePath, int] = {}
        edges = np.array(list(intervals), np.int64).reshape(-1, 2)
        _, phases, dur = self.shares(edges[:, 0], edges[:, 1])
        for phase in dict.fromkeys(phases.tolist()):
            place = tree_paths.root_of(known_phase(self.phases[phase]))
            times[place] = times.get(place, 0) + int(dur[phases == phase].sum())
        return times


def _call_of(place: TreePath) -> int:
    """Which of the phases that begin and end with a call a place belongs to; -1: none."""
    return next((number for number, called in enumerate(_CALLED) if called.holds(place)), -1)
