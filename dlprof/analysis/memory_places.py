"""Which of the user's lines the main thread stood at, at some moments: by the sampled stacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dlprof.analysis import phase_threads, program, samples
from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.store.run import Run

_NEAR_NS = 150_000_000
"""A stack that was seen so shortly before or after a moment still speaks of it: clocks and rates differ."""
Place = tuple[str, int]
"""File and line."""


class Places:
    """The main thread's stacks over time, read piece by piece whenever they are asked for.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.is_empty = not any(len(start) for start, _, _ in self._pieces())
        """Whether no stack of the main thread was sampled."""
        frames = {} if self.is_empty else frames_by_stack(run)
        files = set() if self.is_empty else samples.user_files(run)
        self._places = {number: _users(frames_of, files) for number, frames_of in frames.items()}

    def at(self, moments: Integers, phases: PhaseLookup) -> list[Place | None]:
        """The innermost line of the user's own at each moment (ns); None: none was seen there, or near it.

        A stack is taken to last until the next one is sampled, a second later where that is rare: one that was seen
        first in another phase says nothing of what came then.
        """
        since, stacks = self._nearest_to(moments)
        alike = phases.are_alike(moments, since)
        places = [self._places.get(number, ()) if same else () for number, same in zip(stacks, alike, strict=True)]
        return [each[0] if each else None for each in places]

    def all_at(self, moments: Integers) -> list[Sequence[Place]]:
        """All lines of the user's own that called each other at each moment (ns), innermost first."""
        return [self._places.get(number, ()) for number in self._nearest_to(moments)[1]]

    def _nearest_to(self, moments: Integers) -> tuple[Integers, list[int]]:
        """When the nearest stack of each moment was seen first (ns), and its number; -1: none was near it."""
        nearest = np.full(len(moments), _NEAR_NS + 1, np.int64)
        since, found = np.copy(moments), np.full(len(moments), -1, np.int64)
        for start, end, stack in self._pieces():
            if len(start):
                away, row = _nearest(moments, start, end)
                closer = away < nearest
                nearest[closer], found[closer] = away[closer], stack[row[closer]]
                since[closer] = start[row[closer]]
        return since, found.tolist()

    def _pieces(self) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Begin, end and number of the stacks of the main thread, in order of time in each piece."""
        whose = phase_threads.of_run(self._run)
        for piece in program.pieces_of(self._run, "stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id")):
            own = whose.of_stacks(piece)
            start, dur, stack = (integers(own[name]) for name in ("start_ns", "dur_ns", "stack_id"))
            order = np.argsort(start, kind="stable")
            yield start[order], (start + dur)[order], stack[order]


def _nearest(moments: Integers, start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """How far the nearest of some stretches is from each moment (ns), and which one that is."""
    before = np.maximum(np.searchsorted(start, moments, side="right") - 1, 0)
    after = np.minimum(before + 1, len(start) - 1)
    late = np.maximum(moments - end[before], start[before] - moments).clip(min=0)
    early = np.abs(start[after] - moments)
    return np.minimum(late, early), np.where(late <= early, before, after)


def _users(frames: Sequence[Frame], files: set[str]) -> Sequence[Place]:
    return tuple((frame.file, frame.line) for frame in frames if frame.file in files)
