"""Sampled stacks: which ones stood longest in each phase."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

Frame = tuple[str, str, int]
"""Function, file, line."""


@dataclass(frozen=True)
class HotStack:
    """A stack that stood for a while in a phase.

    Attributes:
        phase: The leaf phase.
        dur_ns: How long it stood, by the samples (ns).
        share: Of the phase's sampled time.
        frames: Innermost first.
    """

    phase: str
    dur_ns: int
    share: float
    frames: tuple[Frame, ...]


def hottest(
    stacks: pa.Table, frames: pa.Table, intervals: pa.Table, *, per_phase: int, thread: str = "MainThread"
) -> list[HotStack]:
    """The stacks of a thread that stood longest, by phase; phases in order of their sampled time.

    A run of foreign traces has no phases: there each thread stands for one.

    Args:
        stacks: Table `stacks`.
        frames: Table `frames`.
        intervals: Table `phase_intervals`.
        per_phase: At most so many of each phase.
        thread: Name of the thread.
    """
    by_phase: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    cuts = [(row["start_ns"], row["start_ns"] + row["dur_ns"], row["phase"]) for row in intervals.to_pylist()]
    for row in stacks.to_pylist():
        if not cuts:
            by_phase[f"thread {row['thread']}"][row["stack_id"]] += row["dur_ns"]
        elif row["thread"] == thread:
            for phase, dur in cut(row["start_ns"], row["start_ns"] + row["dur_ns"], cuts):
                by_phase[phase][row["stack_id"]] += dur
    texts = frames_by_stack(frames)
    found: list[HotStack] = []
    for phase, stood in sorted(by_phase.items(), key=lambda item: -sum(item[1].values())):
        total = sum(stood.values())
        top = sorted(stood.items(), key=lambda item: -item[1])[:per_phase]
        found.extend(HotStack(phase, dur, dur / total, texts[stack]) for stack, dur in top if stack in texts)
    return found


def cut(start: int, end: int, cuts: Sequence[tuple[int, int, str]]) -> list[tuple[str, int]]:
    """The parts of [start, end) that lie in each phase.

    Args:
        start: Begin (ns).
        end: End (ns).
        cuts: (begin, end, phase) of each stretch of a phase, in order.
    """
    parts = []
    index = max(0, bisect_right(cuts, (start, 1 << 62, "")) - 1)
    while index < len(cuts) and cuts[index][0] < end:
        dur = min(end, cuts[index][1]) - max(start, cuts[index][0])
        if dur > 0:
            parts.append((cuts[index][2], dur))
        index += 1
    return parts


def frames_by_stack(table: pa.Table) -> dict[int, tuple[Frame, ...]]:
    """The frames of each stack, the innermost first."""
    grouped: dict[int, list[tuple[int, Frame]]] = defaultdict(list)
    for row in table.to_pylist():
        grouped[row["stack_id"]].append((row["depth"], (row["function"], row["file"], row["line"])))
    return {stack: tuple(frame for _, frame in sorted(rows, reverse=True)) for stack, rows in grouped.items()}
