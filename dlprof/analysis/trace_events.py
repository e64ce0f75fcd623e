"""The events of one process of a run of foreign traces, by the kind of work that they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dlprof.analysis import own_stretches, trace_phases
from dlprof.analysis.columns import Floats, Integers, Truths, integers
from dlprof.analysis.stretches import Stretches
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import MarkSort
from dlprof.schema.vocabulary import Category, EventKind, PseudoLayer
from dlprof.store.run import Run

Key = tuple[str | None, str | None, str | None, str | None]
"""Layer, direction, operator and category."""
_COLUMNS = ("host", "rank", "pid", "op_id", "device", "start_ns", "dur_ns", "nested_ns")
_LANE = "lane"
_MOST = 0.5
_CPU = -1


class Work(Enum):
    """What goes on at a moment."""

    COMPUTE = auto()
    """A kernel on the device that is no collective; without devices an operator that does work of its own."""
    COLLECTIVE = auto()
    COPY = auto()
    INPUT = auto()
    WAIT = auto()
    HOST = auto()
    """An operator or a call of a runtime on the host, beside a device; without one: what only calls other operators."""
    PYTHON = auto()


_ON_DEVICE = (Work.COMPUTE, Work.COLLECTIVE, Work.COPY)


@dataclass(frozen=True)
class Rows:
    """Some of the events, by column.

    Attributes:
        op: Number in `kernel_ops`.
        lane: Their thread.
        start: Begin (ns).
        end: End (ns).
    """

    op: Integers
    lane: Integers
    start: Integers
    end: Integers


class TraceEvents:
    """Events by column.

    Args:
        run: The run.
        rows: Columns of the events of one process: `_COLUMNS` without host, rank and pid, and the number of each lane.
    """

    def __init__(self, run: Run, rows: Mapping[str, Integers]) -> None:
        self._ops = run.rows("kernel_ops")
        self._marks = trace_marks.of_ops(self._ops)
        self._op, self._device = rows["op_id"], rows["device"]
        self._start, self._end = rows["start_ns"], rows["start_ns"] + rows["dur_ns"]
        # Streams of several devices may be called alike.
        self._lane = rows[_LANE] * (int(self._device.max(initial=0)) + 2) + self._device + 1
        self._own = np.maximum(rows["dur_ns"] - rows["nested_ns"], 0)
        kernels = self._of_kind(EventKind.KERNEL)
        self.devices: Sequence[int] = np.unique(self._device[kernels & (self._device > _CPU)]).tolist()
        """Those that computed; none: the trace is of the host alone."""
        self._stretches = self._own_stretches(self._lane)
        is_apart = self._stretches is not None
        self._work = self._works((2 * rows["nested_ns"] > rows["dur_ns"]) & (not is_apart))
        self._on_host = {work: self._covered(self._work[work]) for work in Work if work not in _ON_DEVICE}

    def covers(self, device: int | None) -> dict[Work, Stretches]:
        """When each kind of work goes on, for one device; None: there is none."""
        here = np.ones(len(self._op), bool) if device is None else self._device == device
        return {**self._on_host, **{work: self._covered(self._work[work] & here) for work in _ON_DEVICE}}

    def of_main_thread(self, *kinds: EventKind) -> Rows:
        """The events of these kinds on the thread of the host whose operators take longest by themselves.

        Where a thread marks steps that runs no operator, threads of the engine run them for it, and it is the main one.
        """
        on_host = self._device <= _CPU
        operators, marks = self._of_kind(EventKind.OPERATOR) & on_host, self._of(list(self._marks)) & on_host
        lanes = int(self._lane.max(initial=0)) + 1
        times = np.bincount(self._lane[operators], weights=self._own[operators], minlength=lanes)
        marked = np.bincount(self._lane[marks], minlength=lanes)
        main = marked if marked.any() and not times[marked > 0].any() else times
        chosen = self._of_kind(*kinds) & on_host & (self._lane == int(main.argmax()))
        return Rows(self._op[chosen], self._lane[chosen], self._start[chosen], self._end[chosen])

    def weights(self, work: Work, within: Stretches) -> dict[Key, int]:
        """Time of the work within some time, by what it belongs to, without what runs inside it (ns).

        Time in which several threads or streams are at it is shared between them.
        """
        rows = np.flatnonzero(self._work[work])
        begin, end = self._start[rows], self._end[rows]
        inside = self._shared(rows, within)
        own = self._own[rows] * (inside / np.maximum(end - begin, 1))
        sums = np.bincount(self._op[rows], weights=own, minlength=1)
        ops = {op["op_id"]: op for op in self._ops}
        times: dict[Key, int] = {}
        for number in np.flatnonzero(sums).tolist():
            key = _key(ops[number], work)
            times[key] = times.get(key, 0) + int(np.ceil(sums[number]))
        return times or {(None, None, None, Category.OTHER): 1}

    def _own_stretches(self, lane: Integers) -> tuple[Integers, Integers, Integers] | None:
        """When events run without those inside them; None: what an operator calls stands for it.

        A function of Python does work of its own around what it calls; the outermost ones go on for the whole trace.
        """
        if self.devices or not len(self._op):
            return None
        functions = [op["op_id"] for op in self._ops if trace_marks.is_function(op["name"] or "")]
        own = self._own * self._of_kind(EventKind.OPERATOR)
        if own[self._of(functions)].sum() <= _MOST * own.sum():
            return None
        return own_stretches.of_events(lane, self._start, self._end)

    def _covered(self, chosen: Truths) -> Stretches:
        if self._stretches is None:
            return Stretches.covered(self._start[chosen], self._end[chosen])
        begin, end, row = self._stretches
        return Stretches.covered(begin[chosen[row]], end[chosen[row]])

    def _shared(self, rows: Integers, within: Stretches) -> Floats:
        """How long each event is within some time, where each of n threads at once has an n-th of it (ns)."""
        begin, end = self._start[rows], self._end[rows]
        order = np.argsort(self._lane[rows], kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(self._lane[rows][order])) + 1)
        parts = [Stretches.covered(begin[group], end[group]) for group in groups if len(group)]
        edges = [edge for part in (within, *parts) for edge in (part.begin, part.end)]
        moments = np.unique(np.concatenate([*edges, begin, end]))
        level, inside = np.zeros(len(moments), np.int64), np.zeros(len(moments), np.int64)
        for part in parts:
            _count(level, moments, part)
        _count(inside, moments, within)
        lengths = np.diff(moments, append=moments[-1:])
        before = np.concatenate(([0.0], np.cumsum(lengths * (np.cumsum(inside) > 0) / np.maximum(np.cumsum(level), 1))))
        shared: Floats = before[np.searchsorted(moments, end)] - before[np.searchsorted(moments, begin)]
        return shared

    def _on_lanes_of(self, operators: Truths, chosen: Truths) -> Truths:
        """Which events are on threads all of whose operators are of those chosen, such as a pool that makes batches."""
        lanes = int(self._lane.max(initial=0)) + 1
        whole, theirs = (np.bincount(self._lane[some], minlength=lanes) for some in (operators, operators & chosen))
        found: Truths = ((theirs > 0) & (theirs == whole))[self._lane]
        return found

    def _of_kind(self, *kinds: EventKind) -> Truths:
        words = {kind.word for kind in kinds}
        return self._of([op["op_id"] for op in self._ops if op["kind"] in words])

    def _of(self, op_ids: Sequence[int]) -> Truths:
        chosen = np.zeros(int(self._op.max(initial=0)) + 1, bool)
        chosen[[op_id for op_id in op_ids if op_id < len(chosen)]] = True
        of: Truths = chosen[self._op]
        return of

    def _marked(self, sort: MarkSort) -> Truths:
        return self._of([op_id for op_id, mark in self._marks.items() if mark.sort is sort])

    def _works(self, mostly_others: Truths) -> dict[Work, Truths]:
        """Which events are which work; an operator that is mostly other operators only calls them."""
        on_device = self._device > _CPU
        operators, calls = self._of_kind(EventKind.OPERATOR), self._of_kind(EventKind.RUNTIME)
        collectives = self._of([op["op_id"] for op in self._ops if op["category"] == Category.COLLECTIVE])
        if self.devices:
            computes = self._of_kind(EventKind.KERNEL) & on_device
            host = (operators | calls) & ~on_device
        else:
            # What makes batches may run beside the training: how long that waited for them, ranges tell.
            of_input = self._of([op["op_id"] for op in self._ops if op["layer"] == PseudoLayer.INPUT])
            calls_others = mostly_others | of_input
            computes = operators & ~calls_others
            host = (calls | (operators & calls_others)) & ~self._on_lanes_of(operators, of_input)
        # Beside a device such a range only starts the collective.
        exchanges = self._marked(MarkSort.COLLECTIVE) & (not self.devices)
        return {
            Work.COMPUTE: computes & ~collectives,
            Work.COLLECTIVE: (computes & collectives) | exchanges,
            Work.COPY: self._of_kind(EventKind.TRANSFER) & (on_device if self.devices else ~on_device),
            Work.INPUT: self._marked(MarkSort.INPUT) & ~on_device,
            Work.WAIT: self._of_kind(EventKind.WAIT) & ~on_device,
            Work.HOST: host,
            Work.PYTHON: self._of_kind(EventKind.PYTHON),
        }


def of_run(run: Run) -> TraceEvents | None:
    """The events of the process that the run's phases are of; None: there are none."""
    place = trace_phases.main_place(run)
    if place is None:
        return None
    table = run.table("kernel_events", (*_COLUMNS, _LANE))
    for name, value in (("rank", place.rank), ("host", place.host), ("pid", place.pid)):
        table = table.filter(pc.equal(table[name].cast("string"), str(value))) if value is not None else table
    if not table.num_rows:
        return None
    lanes = table[_LANE].unify_dictionaries().combine_chunks().indices
    columns = {name: integers(table[name]) for name in _COLUMNS[3:]}
    return TraceEvents(run, {**columns, _LANE: np.asarray(lanes.fill_null(-1), np.int64)})


def _count(level: Integers, moments: Integers, stretches: Stretches) -> None:
    """Add by how much the number of stretches that cover it changes at each moment."""
    np.add.at(level, np.searchsorted(moments, stretches.begin), 1)
    np.add.at(level, np.searchsorted(moments, stretches.end), -1)


def _key(op: Mapping[str, Any], work: Work) -> Key:
    """What an event belongs to; ranges of collectives are of no category of their own."""
    if work is Work.COLLECTIVE:
        return op["layer"], op["direction"], op["op"] or op["name"], Category.COLLECTIVE
    return op["layer"], op["direction"], op["op"], op["category"]
