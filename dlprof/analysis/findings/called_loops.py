"""Loops of functions that an engine calls, such as `forward` of a layer, and how long the main thread stood there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dlprof.analysis.findings.case import Case
from dlprof.engines import combined
from dlprof.schema.tree_paths import Tree

Turns = Callable[[Sequence[str]], Mapping[int, int]]
"""From the lines of a file to those of them that are in a loop, with the line at which that begins."""


class Place(NamedTuple):
    """A line in a loop, and where that begins."""

    file: str
    line: int
    loop: int


def stood(case: Case, turns: Turns) -> Mapping[Place, int]:
    """Time in the training steps by the innermost such line of each stack of the main thread (ns).

    Args:
        case: The run.
        turns: Which lines are in a loop.
    """
    packages = combined.folders_with_keras()
    loops: dict[str, Mapping[int, int]] = {}
    times: Counter[Place] = Counter()
    for sample in case.code.samples:
        if not sample.main or not Tree.FIT_STEPS.holds(sample.phase):
            continue
        last = max((n for n, frame in enumerate(sample.frames) if frame.file.startswith(packages)), default=0)
        for frame in sample.frames[:last]:
            if frame.file not in case.code.user_files:
                continue
            if frame.file not in loops:
                loops[frame.file] = turns(case.code.lines(frame.file))
            if frame.line in loops[frame.file]:
                times[Place(frame.file, frame.line, loops[frame.file][frame.line])] += sample.dur_ns
                break
    return times
