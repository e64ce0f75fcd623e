"""The kernel window of a run's main loop, and what its events cover of the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, integers
from dlprof.engines import combined
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import Category, EventKind, Loop, PseudoLayer
from dlprof.store.run import Run

_LOOPS = (Loop.TRAIN, Loop.PREDICT, Loop.TEST)
"""The loop that a run was made for comes first."""


@dataclass(frozen=True)
class Spans:
    """Stretches of time: begin and end of each (ns)."""

    begin: Integers
    end: Integers

    def joined(self, other: Spans) -> Spans:
        """These and others."""
        return Spans(np.concatenate((self.begin, other.begin)), np.concatenate((self.end, other.end)))


@dataclass(frozen=True)
class Window:
    """A stretch of a loop in which kernels were traced (ns on the run's timeline)."""

    number: int
    engine: str
    """Whose tracer was used."""
    loop: Loop
    begin_ns: int
    end_ns: int
    steps: int

    @property
    def span(self) -> Spans:
        """All of it."""
        return Spans(np.asarray([self.begin_ns]), np.asarray([self.end_ns]))

    def steps_in(self, run: Run) -> pa.Table:
        """Steps of the run that began in it, of all loops."""
        return pa.concat_tables([TABLES["steps"].empty_table(), *map(self.rows_in, run.pieces("steps"))])

    def rows_in(self, steps: pa.Table) -> pa.Table:
        """Those of some steps that began in it."""
        start = steps["start_ns"]
        return steps.filter(pc.and_(pc.greater_equal(start, self.begin_ns), pc.less(start, self.end_ns)))


def main_window(run: Run) -> Window | None:
    """The first window of the run's main loop; None: no loop was traced."""
    rows = [row for row in run.rows("kernel_windows") if row["loop"] is not None and row["steps"]]
    if not rows:
        return None
    row = min(rows, key=lambda row: (_LOOPS.index(Loop(row["loop"])), row["window"]))
    end = row["start_ns"] + row["dur_ns"]
    return Window(row["window"], row["engine"], Loop(row["loop"]), row["start_ns"], end, row["steps"])


class Cover(Enum):
    """What may go on at a moment of a traced step."""

    STEP = auto()
    """What is looked at: the steps, or the time between them."""
    CALL = auto()
    """The call of the step function."""
    KERNELS = auto()
    """A kernel, or an operator of the model that does work of its own."""
    TRANSFER = auto()
    WAIT = auto()
    RUNTIME = auto()
    INPUT = auto()
    PYTHON = auto()
    """A function of Python, also one that an operator calls."""


_COVER_OF_KIND: Mapping[str, Cover] = {
    EventKind.OPERATOR.word: Cover.KERNELS,
    EventKind.KERNEL.word: Cover.KERNELS,
    EventKind.TRANSFER.word: Cover.TRANSFER,
    EventKind.WAIT.word: Cover.WAIT,
    EventKind.RUNTIME.word: Cover.RUNTIME,
    EventKind.INPUT.word: Cover.INPUT,
    EventKind.PYTHON.word: Cover.PYTHON,
}
_OF_EVENTS = (Cover.KERNELS, Cover.TRANSFER, Cover.WAIT, Cover.RUNTIME, Cover.INPUT, Cover.PYTHON)


def covers_of_events(run: Run, window: Window) -> dict[Cover, Spans]:
    """What the traced events cover, for every `Cover` that events tell."""
    events = run.table("kernel_events")
    events = events.filter(pc.equal(events["window"], window.number))
    start, dur = integers(events["start_ns"]), integers(events["dur_ns"])
    cover, is_kernel = _covers_by_op(run, integers(events["op_id"]))
    # An operator that is mostly other operators is their dispatch, not work of its own.
    dispatching = 2 * integers(events["nested_ns"]) > dur
    if is_kernel.any():
        dispatching[:] = True  # with a device that computes, operators of the host launch its kernels
    cover[(cover == Cover.KERNELS.value) & ~is_kernel & dispatching] = -1
    rows = {kind: cover == kind.value for kind in _OF_EVENTS}
    return {kind: Spans(start[chosen], (start + dur)[chosen]) for kind, chosen in rows.items()}


def _covers_by_op(run: Run, op_id: Integers) -> tuple[Integers, Any]:
    """For each event the value of its `Cover` (-1: none), and whether it is a kernel on a device."""
    ops = run.rows("kernel_ops")
    size = max((op["op_id"] for op in ops), default=-1) + 1
    cover, is_kernel = np.full(size, -1), np.zeros(size, bool)
    for op in ops:
        told = _cover(op)
        cover[op["op_id"]] = told.value if told is not None else -1
        is_kernel[op["op_id"]] = op["kind"] == EventKind.KERNEL.word
    return cover[op_id], is_kernel[op_id]


def _cover(op: Mapping[str, Any]) -> Cover | None:
    """What an operator's time is."""
    if op["kind"] == EventKind.OPERATOR.word:
        if op["layer"] == PseudoLayer.INPUT:
            return Cover.INPUT
        if op["category"] == Category.COLLECTIVE:  # of the host's: it waits for other ranks in it
            return Cover.WAIT
        if op["op"] in combined.python_operators():
            return Cover.PYTHON
    return _COVER_OF_KIND.get(op["kind"])
