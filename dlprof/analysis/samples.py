"""Sampled stacks with what they mean: the phase they stood in, and whose code ran."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import grouped, phase_threads, program
from dlprof.analysis.columns import Truths, integers
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.engines import combined
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import known_phase
from dlprof.store.run import Run

_KERAS_INPUT_FILES = (
    "data_adapter",
    "epoch_iterator",
    "py_dataset",
    "keras/utils/data_utils",
    "keras/engine/training_generator",
)
"""Parts of the names of files through which Keras calls for a batch."""
_KERAS_CALLBACK_FILES = ("keras/src/callbacks/", "keras/callbacks")
_AROUND_STEPS = (Tree.FIT_STEPS, Tree.FIT_INPUT, Tree.FIT_CALLBACKS, Tree.FIT_WAIT)
"""Phases that follow each other so fast that a sample reaches over their ends."""
_KERAS_WAITS = frozenset({"convert_to_numpy", "get_value", "batch_get_value", "get_weights"})
"""Functions of Keras that wait for a value of the engine."""
_WAIT_DEPTH = 6
"""A wait is at most so many frames above what it calls."""


@dataclass(frozen=True)
class Sample:
    """Threads of one kind stood in a stack, all times together.

    Attributes:
        phase: Leaf of the tree in which the program was then. Callbacks and input between the steps are told by
            the stack: as intervals of time they are not kept step by step.
        main: Whether it was the thread that phases are of then: the main one, but for trainings on others.
        dur_ns: For how long, by the samples.
        frames: Innermost first.
    """

    phase: TreePath
    main: bool
    dur_ns: int
    frames: tuple[Frame, ...]


def by_phase(run: Run) -> list[Sample]:
    """All sampled stacks, cut by the phases of the run; made once: breakdown, findings and page ask for them."""
    return run.once("samples by phase", lambda run: of_run(run, PhaseLookup(run.table("phase_intervals"))))


def of_run(run: Run, lookup: PhaseLookup) -> list[Sample]:
    """All sampled stacks, cut by phase: each stack once for each phase, and for the main and for other threads.

    Args:
        run: The run.
        lookup: Its phases.
    """
    if lookup.is_empty:
        return []
    frames_of, waits = frames_by_stack(run), measures_waits(run)
    places = [tree_paths.root_of(known_phase(phase)) for phase in lookup.phases]
    times: dict[tuple[TreePath, bool, int], int] = {}
    beside, whose = program.others(run), phase_threads.of_run(run)
    for piece in run.pieces("stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id")):
        for (phase, main, stack), ns in _cut(*whose.of_work(program.rows_of(piece, beside)), lookup).items():
            frames = frames_of.get(stack)
            if frames is not None:
                path = _by_stack(places[phase], frames, waits=waits) if main else places[phase]
                times[path, main, stack] = times.get((path, main, stack), 0) + ns
    return [Sample(path, main, ns, frames_of[stack]) for (path, main, stack), ns in times.items()]


def of_main_beside(run: Run, lookup: PhaseLookup) -> list[Sample]:
    """Stacks of the main thread while phases are of another one, which are none of `of_run`, cut by these phases.

    Args:
        run: The run.
        lookup: Its phases.
    """
    whose = phase_threads.of_run(run)
    if lookup.is_empty or not whose.turns:
        return []
    frames_of, places = frames_by_stack(run), [tree_paths.root_of(known_phase(phase)) for phase in lookup.phases]
    times: dict[tuple[TreePath, int], int] = {}
    beside = program.others(run)
    for piece in run.pieces("stacks", ("pid", "thread", "start_ns", "dur_ns", "stack_id")):
        rows = whose.of_main_beside(program.rows_of(piece, beside))
        for (phase, _, stack), ns in _cut(rows, np.zeros(rows.num_rows, np.bool_), lookup).items():
            times[places[phase], stack] = times.get((places[phase], stack), 0) + ns
    return [Sample(path, False, ns, frames_of[stack]) for (path, stack), ns in times.items() if stack in frames_of]


def _cut(stacks: pa.Table, main: Truths, lookup: PhaseLookup) -> dict[tuple[int, bool, int], int]:
    """Time (ns) by phase, whether it was the thread that phases are of, and stack."""
    start, stack = integers(stacks["start_ns"]), integers(stacks["stack_id"])
    of, phase, dur = lookup.shares(start, start + integers(stacks["dur_ns"]))
    phase = np.where(main[of], lookup.seen_in(of, phase), phase)
    found = grouped.sums((phase, main[of].astype(np.int64), stack[of]), dur)
    return {(phase, bool(main), stack): ns for (phase, main, stack), ns in found}


def measures_waits(run: Run) -> bool:
    """Whether the run tells waits for the device apart from callbacks."""
    return any(piece["wait_ns"].null_count < piece.num_rows for piece in run.pieces("steps", ("wait_ns",)))


def _by_stack(phase: TreePath, frames: tuple[Frame, ...], *, waits: bool) -> TreePath:
    """The phase of a sample of the main thread: inside the steps, and between two of them, its stack tells.

    A sample reaches over the ends of short phases: what stands below a callback makes no batch, and the other way
    round.
    """
    if phase not in _AROUND_STEPS:
        return phase
    if any(frame.file.startswith(_KERAS_CALLBACK_FILES) for frame in frames):
        if phase in (Tree.FIT_CALLBACKS, Tree.FIT_WAIT):
            return phase
        return Tree.FIT_WAIT if waits and is_waiting(frames) else Tree.FIT_CALLBACKS
    return Tree.FIT_INPUT if _is_input(frames) else phase


def _is_input(frames: Sequence[Frame]) -> bool:
    return any(part in frame.file for frame in frames for part in _input_files())


@cache
def _input_files() -> tuple[str, ...]:
    return (*_KERAS_INPUT_FILES, *combined.input_files())


def is_of_input(sample: Sample) -> bool:
    """Whether Keras or the engine called for a batch."""
    return _is_input(sample.frames)


def is_operator(sample: Sample) -> bool:
    """Whether an operator of the engine called Python: `tf.py_function` and its kin."""
    files = tuple(combined.operator_files())
    return any(frame.file.startswith(files) for frame in sample.frames)


def is_callback(sample: Sample) -> bool:
    """Whether a compiled function called Python: `jax.pure_callback` and its kin."""
    files = tuple(combined.callback_files())
    return any(frame.file.startswith(files) for frame in sample.frames)


def user_files(run: Run) -> set[str]:
    """Files of the user's own code, as far as they were seen; not those that an engine wrote out of it."""
    lines = set(pc.unique(run.table("lines")["file"]).to_pylist())
    files = lines | {
        file for piece in run.pieces("spans", ("file",)) for file in pc.unique(piece["file"]).to_pylist() if file
    }
    return {file for file in files if not any(part in file for part in combined.generated_files())}


def known_lines(run: Run) -> set[tuple[str, int]] | None:
    """Lines that were counted or seen for sure, by file and number; None: the run does not hold all of them.

    What stands on a stack besides was misread: py-spy does not stop the process that it reads.
    """
    rows = run.rows("lines")
    if not any(row["how"] for row in rows):
        return None
    return {(row["file"], row["line"]) for row in rows if row["hits"] or row["samples"]}


def is_called_back(sample: Sample, users: Collection[str]) -> bool:
    """Whether user code runs that a library called: a callback, a generator, a layer; on other threads any."""
    outer_first = [frame.file in users for frame in reversed(sample.frames)]
    if not sample.main:
        return any(outer_first)
    # Files of Python itself, and what dlprof starts the script with, come before the script's own frames.
    first = outer_first.index(True) if True in outer_first else len(outer_first)
    return False in outer_first[first:] and any(outer_first[first + outer_first[first:].index(False) :])


def waiting_share(samples: Sequence[Sample], phase: TreePath) -> float | None:
    """Share of a phase in which the main thread waited for a value of the engine; None: it was not sampled there."""
    inside = [sample for sample in samples if sample.main and sample.phase == phase]
    whole = sum(sample.dur_ns for sample in inside)
    waited = sum(sample.dur_ns for sample in inside if is_waiting(sample.frames))
    return waited / whole if whole else None


def is_waiting(frames: Sequence[Frame]) -> bool:
    """Whether a stack, innermost frame first, stands in what waits for a value of the engine."""
    waiting = waiting_functions()
    return any(frame.name in waiting for frame in frames[:_WAIT_DEPTH])


@cache
def waiting_functions() -> frozenset[str]:
    """Functions of Keras and of the engines that wait for a value and bring it to the host."""
    return _KERAS_WAITS | combined.waiting_functions()
