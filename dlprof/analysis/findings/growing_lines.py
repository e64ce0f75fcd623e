"""The line of the script at which steps of a loop stand longer and longer: samples of both halves of it tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from dlprof.analysis import phase_threads, program
from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.findings.growth import Growth
from dlprof.analysis.stacks import frames_by_stack
from dlprof.store.values import values

_COLUMNS = ("pid", "thread", "start_ns", "dur_ns", "stack_id")
_MOSTLY = 0.5
"""Share of what both halves differ by that is a line's, from which on the line is what grows."""
_SURE = 3.0
"""So many times what chance makes of its samples a line must differ by."""


def of_steps(case: Case, grown: Growth) -> SourceLine | None:
    """The line, of the innermost of the user's on the main thread; None: none grows by most of it, or surely.

    Args:
        case: The run.
        grown: How its steps grow.
    """
    if grown.halves is None:
        return None
    first, second = _halves(case, grown.halves)
    grew = {line: second[line] - first.get(line, 0) for line in second}
    line = max((line for line in grew if line is not None), key=lambda line: grew[line], default=None)
    if line is None:
        return None
    every = case.code.every_ns
    chance = _SURE * float(np.sqrt((first.get(line, 0) + second[line]) * every))
    whole = sum(second.values()) - sum(first.values())
    return line if grew[line] >= max(_MOSTLY * whole, chance) else None


def _halves(case: Case, ends: tuple[int, int, int]) -> tuple[Mapping[SourceLine | None, int], ...]:
    """For how long the user's innermost lines stood in each half (ns); None: no line of the user's did."""
    frames_of, users = frames_by_stack(case.run), case.code.user_files
    whose = phase_threads.of_run(case.run)
    lines = {
        stack: next(((frame.file, frame.line) for frame in frames if frame.file in users), None)
        for stack, frames in frames_of.items()
    }
    stood: tuple[dict[SourceLine | None, int], ...] = (defaultdict(int), defaultdict(int))
    for piece in program.pieces_of(case.run, "stacks", _COLUMNS):
        own = whose.of_stacks(piece)
        start, dur = integers(own["start_ns"]), integers(own["dur_ns"])
        inside = [_inside(start, dur, *half) for half in (ends[:2], ends[1:])]
        for stack, *parts in zip(values(own["stack_id"]), *(one.tolist() for one in inside), strict=True):
            for half, ns in zip(stood, parts, strict=True):
                half[lines.get(stack)] += ns
    return stood


def _inside(start: Integers, dur: Integers, begin: int, end: int) -> Integers:
    """How much of each sample lies between two moments (ns)."""
    lasts: Integers = np.maximum(0, np.minimum(start + dur, end) - np.maximum(start, begin))
    return lasts
