"""Sampled stacks: which ones stood longest in each phase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dlprof.analysis import grouped
from dlprof.analysis.columns import integers
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.store.run import Run
from dlprof.store.values import values

NAMELESS = "without a name"


class Frame(NamedTuple):
    """A call that stood on a stack."""

    function: str
    file: str
    line: int

    @property
    def name(self) -> str:
        """The function without its class: from Python 3.11 on stacks have `ArrayImpl._value`, before that `_value`."""
        return self.function.rpartition(".")[2]


MODULE = "<module>"
"""What Python calls the code of a file that stands in no function."""


def shown_name(function: str, file: str) -> str:
    """What a frame is called for people: a file's own code by the file, which `<module>` does not tell."""
    if function != MODULE or not file:
        return function
    folder, _, name = file.rpartition("/")
    if name == "__init__.py" and folder:
        name = f"{folder.rpartition('/')[2]}/{name}"
    return f"{name} (module)"


def package(file: str) -> str:
    """The package that a file belongs to, by its shortened name; `<python>`: Python itself."""
    first = file.partition("/")[0]
    return "<python>" if first.startswith("<frozen") else first


@dataclass(frozen=True)
class HotStack:
    """A stack that stood for a while in a phase.

    Attributes:
        phase: The leaf phase; the thread, where the run has none.
        dur_ns: How long it stood, by the samples (ns).
        share: Of the phase's sampled time.
        frames: Innermost first.
    """

    phase: str
    dur_ns: int
    share: float
    frames: tuple[Frame, ...]


def hottest(
    stacks: Iterable[pa.Table], frames: pa.Table, intervals: pa.Table, *, per_phase: int, whose: PhaseThreads
) -> list[HotStack]:
    """The stacks that stood longest on the threads that phases are of, by phase; phases in order of their sampled time.

    A run of foreign traces has no phases: there each thread stands for one.

    Args:
        stacks: Table `stacks`, in pieces.
        frames: Table `frames`.
        intervals: Table `phase_intervals`.
        per_phase: At most so many of each phase.
        whose: These threads.
    """
    by_phase = _time_by_phase(stacks, PhaseLookup(intervals), whose)
    texts = _by_stack(frames)
    hot: list[HotStack] = []
    for phase, stood in sorted(by_phase.items(), key=lambda item: -sum(item[1].values())):
        total = sum(stood.values())
        top = sorted(stood.items(), key=lambda item: -item[1])[:per_phase]
        hot.extend(HotStack(phase, dur, dur / total, texts[stack]) for stack, dur in top if stack in texts)
    return hot


def _time_by_phase(stacks: Iterable[pa.Table], lookup: PhaseLookup, whose: PhaseThreads) -> dict[str, dict[int, int]]:
    """Phase to the number of a stack to how long it stood there (ns)."""
    by_phase: dict[str, dict[int, int]] = {}
    for piece in stacks:
        for name, stack, ns in _by_thread(piece) if lookup.is_empty else _in_phases(piece, lookup, whose):
            stood = by_phase.setdefault(name, {})
            stood[stack] = stood.get(stack, 0) + ns
    return by_phase


def _in_phases(piece: pa.Table, lookup: PhaseLookup, whose: PhaseThreads) -> Iterator[tuple[str, int, int]]:
    own = whose.of_stacks(piece)
    stack, start, dur = (integers(own[name]) for name in ("stack_id", "start_ns", "dur_ns"))
    of, phase, inside = lookup.shares(start, start + dur)
    phase = lookup.seen_in(of, phase)
    for (place, number), ns in grouped.sums((phase, stack[of]), inside):
        yield lookup.phases[place], number, ns


def _by_thread(piece: pa.Table) -> Iterator[tuple[str, int, int]]:
    texts = piece["thread"].cast(pa.string()).combine_chunks().dictionary_encode()
    names = texts.dictionary.to_pylist()
    thread = np.asarray(texts.indices.to_numpy(zero_copy_only=False), np.int64)
    for (place, number), ns in grouped.sums((thread, integers(piece["stack_id"])), integers(piece["dur_ns"])):
        yield f"thread {names[place] or NAMELESS}", number, ns


def frames_by_stack(run: Run) -> Mapping[int, tuple[Frame, ...]]:
    """The frames of each stack of a run, the innermost first."""
    return run.once("frames by stack", lambda one: _by_stack(one.table("frames")))


def _by_stack(table: pa.Table) -> dict[int, tuple[Frame, ...]]:
    # By columns, for there are many rows and few frames that differ.
    stack_ids, depths, *texts = (values(table[name]) for name in ("stack_id", "depth", "function", "file", "line"))
    known: dict[tuple[str, str, int], Frame] = {}
    grouped: dict[int, list[tuple[int, Frame]]] = defaultdict(list)
    for stack, depth, key in zip(stack_ids, depths, zip(*texts, strict=True), strict=True):
        grouped[stack].append((depth, known.get(key) or known.setdefault(key, Frame(*key))))
    return {stack: tuple(frame for _, frame in sorted(rows, reverse=True)) for stack, rows in grouped.items()}
