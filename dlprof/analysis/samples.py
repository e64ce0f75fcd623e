"""Sampled stacks with what they mean: the phase they stood in, and whose code ran."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.store.run import Run

_INPUT_FILES = (
    "data_adapter", "epoch_iterator", "py_dataset", "torch/utils/data", "tensorflow/python/data",
    "keras/utils/data_utils", "keras/engine/training_generator",
)  # fmt: skip
"""Files through which Keras and the engines call for a batch."""
_OPERATOR_FILES = ("tensorflow/python/ops/script_ops",)
"""Files through which an operator calls Python."""
_CALLBACK_FILES = ("keras/src/callbacks/", "keras/callbacks")
WAITS = frozenset({
    "_value", "block_until_ready", "__array__", "_single_device_array_to_np_array_did_copy", "asnumpy", "asscalar",
    "wait_to_read", "waitall", "numpy", "_numpy", "item", "tolist", "cpu", "synchronize", "convert_to_numpy",
    "get_value", "batch_get_value", "get_weights",
})  # fmt: skip
"""Functions of the engines that wait for a value and bring it to the host."""


@dataclass(frozen=True)
class Sample:
    """A thread stood in a stack for a while.

    Attributes:
        phase: Leaf of the tree in which the main thread was then. Callbacks and input between the steps are told by
            the stack: as intervals of time they are not kept step by step.
        main: Whether it was the main thread.
        dur_ns: For how long, by the samples.
        frames: Innermost first.
    """

    phase: str
    main: bool
    dur_ns: int
    frames: tuple[Frame, ...]


class Phases:
    """The leaf phases of the main thread over time."""

    def __init__(self, run: Run) -> None:
        self._rows = [
            (row["start_ns"], row["start_ns"] + row["dur_ns"], row["phase"].replace(".", "/"))
            for row in run.rows("phase_intervals")
        ]

    def of(self, intervals: Iterable[tuple[int, int]]) -> dict[str, int]:
        """Time of some intervals, (begin, end), in each leaf phase (ns)."""
        found: dict[str, int] = {}
        for begin, end in intervals:
            index = max(0, bisect_right(self._rows, (begin, 1 << 62, "")) - 1)
            while index < len(self._rows) and self._rows[index][0] < end:
                low, high, phase = self._rows[index]
                overlap = min(end, high) - max(begin, low)
                if overlap > 0:
                    found[phase] = found.get(phase, 0) + overlap
                index += 1
        return found


def of_run(run: Run, phases: Phases) -> list[Sample]:
    """All sampled stacks, cut by phase."""
    texts = frames_by_stack(run.table("frames"))
    found = []
    for row in run.rows("stacks"):
        frames = texts.get(row["stack_id"])
        if frames is None:
            continue
        main = row["thread"] == "MainThread"
        for phase, ns in phases.of([(row["start_ns"], row["start_ns"] + row["dur_ns"])]).items():
            found.append(Sample(_told(phase, frames) if main else phase, main, ns, frames))
    return found


def _told(phase: str, frames: tuple[Frame, ...]) -> str:
    if phase == "fit/steps":
        if any(file.startswith(_CALLBACK_FILES) for _, file, _ in frames):
            return "fit/callbacks"
        if _is_input(frames):
            return "fit/input"
    return phase


def _is_input(frames: Sequence[Frame]) -> bool:
    return any(word in file for _, file, _ in frames for word in _INPUT_FILES)


def is_of_input(sample: Sample) -> bool:
    """Whether Keras or the engine called for a batch."""
    return _is_input(sample.frames)


def is_operator(sample: Sample) -> bool:
    """Whether an operator of the engine called Python: `tf.py_function` and its kin."""
    return any(file.startswith(_OPERATOR_FILES) for _, file, _ in sample.frames)


def user_files(run: Run) -> set[str]:
    """Files of the user's own code, as far as they were seen."""
    lines = set(pc.unique(run.table("lines")["file"]).to_pylist())
    return lines | {row["file"] for row in run.rows("spans") if row["file"]}


def is_called_back(sample: Sample, users: set[str]) -> bool:
    """Whether user code runs that a library called: a callback, a generator, a layer; on other threads any."""
    outer_first = [frame[1] in users for frame in reversed(sample.frames)]
    if not sample.main:
        return any(outer_first)
    # Files of Python itself, and what dlprof starts the script with, come before the script's own frames.
    first = outer_first.index(True) if True in outer_first else len(outer_first)
    return False in outer_first[first:] and any(outer_first[first + outer_first[first:].index(False) :])


def waiting_share(samples: Sequence[Sample], phase: str) -> float | None:
    """Share of a phase in which the main thread waited for a value of the engine; None: it was not sampled there."""
    inside = [one for one in samples if one.main and one.phase == phase]
    whole = sum(one.dur_ns for one in inside)
    waited = sum(one.dur_ns for one in inside if any(frame[0] in WAITS for frame in one.frames[:6]))
    return waited / whole if whole else None
