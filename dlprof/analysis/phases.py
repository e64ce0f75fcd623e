"""Phases: the wall time of the traced process, cut without overlap.

Every moment of the main thread belongs to exactly one leaf phase, by the spans that are open then
(outermost first decides). Steps of training loops are kept out of the spans for the sake of their
number; their parts are moved between phases as sums, except for the few steps with something inside
them (a compilation, a checkpoint), which are cut exactly.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Truths
from dlprof.analysis.phase_spans import Interval, PhaseIntervals, SpanTimes
from dlprof.analysis.phase_steps import Step, StepBatch
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.schema.vocabulary import FIT_PHASES, PHASE_OF_LOOP, TOP_PHASES, Loop, Phase, SpanKind

_ALONE: Mapping[str, Phase] = MappingProxyType(
    {
        SpanKind.IMPORT: Phase.IMPORT,
        SpanKind.DATA: Phase.DATA,
        SpanKind.INPUT: Phase.DATA,
        SpanKind.CONSTRUCT: Phase.CONSTRUCT,
        SpanKind.COMPILE: Phase.COMPILE,
        SpanKind.BUILD: Phase.COMPILE,
        SpanKind.GRAPH_COMPILE: Phase.COMPILE,
        SpanKind.GRAPH_STAGE: Phase.COMPILE,
        SpanKind.EVALUATE: Phase.EVALUATE,
        SpanKind.PREDICT: Phase.PREDICT,
        SpanKind.SAVE: Phase.SAVE,
        SpanKind.CALLBACKS: Phase.SCRIPT,
    }
)
"""The phase of an outermost span that is no `fit`; of all others it is the script's own time."""
_IN_FIT: Mapping[str, Phase] = MappingProxyType(
    {
        SpanKind.BUILD: Phase.FIT_BUILD,
        SpanKind.CONSTRUCT: Phase.FIT_BUILD,
        SpanKind.COMPILE: Phase.FIT_BUILD,
        SpanKind.GRAPH_COMPILE: Phase.FIT_GRAPH_COMPILE,
        SpanKind.GRAPH_STAGE: Phase.FIT_GRAPH_COMPILE,
        SpanKind.INPUT: Phase.FIT_INPUT,
        SpanKind.CALLBACKS: Phase.FIT_CALLBACKS,
        SpanKind.EVALUATE: Phase.FIT_VALIDATION,
        SpanKind.PREDICT: Phase.FIT_VALIDATION,
    }
)
"""The phase of a span inside `fit`; others are part of what is around them."""


@dataclass(frozen=True)
class Bounds:
    """The moments that cut a process's life, in ns on the run's timeline; None: not known."""

    wall: int
    boot: int | None
    """First line of dlprof's own code in the process."""
    script_start: int | None = None
    script_end: int | None = None
    told: int | None = None
    """Up to when anything is known; None: up to the end."""
    goes_on: bool = False
    """The process ran before the probe came, and goes on after it: what it does then is no start, and no end."""


@dataclass(frozen=True)
class PhaseTime:
    """Time in one phase.

    Attributes:
        name: Which phase.
        parent: `fit` for its sub-phases, else None.
        dur_ns: Time in it (ns).
        count: Separate entries; steps for what belongs to steps.
    """

    name: Phase
    parent: Phase | None
    dur_ns: int
    count: int


@dataclass(frozen=True)
class Phases:
    """The phases of a run.

    Attributes:
        phases: Those with some time, at the top in the order of a usual program; those inside `fit` come after it.
        intervals: The leaf phases in order of time; steps are not cut into their parts here.
        unattributed_ns: What is left of the wall time.
    """

    phases: tuple[PhaseTime, ...]
    intervals: PhaseIntervals
    unattributed_ns: int


@dataclass
class _Totals:
    dur: dict[Phase, int] = field(default_factory=dict)
    count: dict[Phase, int] = field(default_factory=dict)

    def add(self, phase: Phase, dur: int, count: int = 0) -> None:
        self.dur[phase] = self.dur.get(phase, 0) + dur
        self.count[phase] = self.count.get(phase, 0) + count

    def move(self, source: Phase, target: Phase, dur: int) -> None:
        """Move time from one phase to another: never more than there is."""
        moved = max(0, min(dur, self.dur.get(source, 0)))
        self.add(target, moved)
        self.add(source, -moved)


def compute(spans: Sequence[Interval], steps: Sequence[Step], bounds: Bounds) -> Phases:
    """Cut the wall time into phases.

    Args:
        spans: Spans of the main thread, in any order, properly nested.
        steps: Steps of the main thread, in order of time.
        bounds: The process's life.
    """
    return cut(SpanTimes.of(spans), lambda: [StepBatch.of(steps)], bounds)


def cut(spans: SpanTimes, steps: Callable[[], Iterable[StepBatch]], bounds: Bounds) -> Phases:
    """Cut the wall time into phases, with little of it in memory.

    Args:
        spans: Spans of the main thread, properly nested.
        steps: Gives the steps of the main thread, in order of time; it is asked twice.
        bounds: The process's life.
    """
    parts: list[Interval] = []
    counts: Counter[str] = Counter()
    for batch, exactly in _batches(spans, steps):
        parts += (part for row in np.flatnonzero(exactly).tolist() for part in batch.step(row).parts())
        own = batch.is_of(SpanKind.FIT) | batch.is_of(SpanKind.ON_BATCH)
        for loop in map(Loop, PHASE_OF_LOOP):
            counts[loop] += int(batch.count[own & batch.is_in(loop)].sum())
    intervals = _leaf_intervals(spans, parts, bounds)
    totals = _Totals()
    for phase, dur, count in intervals.sums():
        totals.add(phase, dur, count)
    moves: Counter[tuple[Phase, Phase]] = Counter()
    for batch, exactly in _batches(spans, steps):
        _add_moves(moves, batch, ~exactly, intervals)
    for (source, target), dur in moves.items():
        totals.move(source, target, dur)
    _count(totals, spans.count(SpanKind.FIT), counts)
    return _result(totals, intervals, bounds)


def _batches(spans: SpanTimes, steps: Callable[[], Iterable[StepBatch]]) -> Iterator[tuple[StepBatch, Truths]]:
    """Steps, and which of them are cut exactly: the first calls, and those with something inside."""
    begins = spans.inside_steps()
    for batch in steps():
        yield batch, batch.with_something_inside(begins)


def _leaf_intervals(spans: SpanTimes, parts: Sequence[Interval], bounds: Bounds) -> PhaseIntervals:
    sweep = _Sweep(bounds)
    useful = sorted((part for part in parts if part.covers_time), key=_outer_first)
    for span in heapq.merge(spans.in_order(), useful, key=_outer_first):
        sweep.enter(span)
    return sweep.finish()


def _outer_first(span: Interval) -> tuple[int, int]:
    return span.start, -span.end


class _Sweep:
    """A walk over the spans in order of time, with the stack of those that are open."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._last = bounds.wall if bounds.told is None else bounds.told
        """Of what is later nothing is known."""
        self._stack: list[_Open] = []
        self._had_epoch = False
        self._cursor = 0
        self._intervals = PhaseIntervals()
        self._outside = _outside(bounds)

    def enter(self, span: Interval) -> None:
        """The next span begins."""
        if span.start >= self._last:  # a part of a step, by a damaged stream
            return
        self._leave_until(span.start)
        self._advance(span.start)
        if not self._stack:
            self._had_epoch = False
        self._had_epoch = self._had_epoch or span.kind == SpanKind.EPOCH
        # A cut part may reach a few hundred ns over what is around it.
        around = self._stack[-1] if self._stack else None
        if around is None:
            self._stack.append(_Open(min(span.end, self._last), (span.kind,), span.step_of))
        else:
            self._stack.append(_Open(min(span.end, around.end), (*around.kinds, span.kind), around.step_of))

    def finish(self) -> PhaseIntervals:
        """No more spans: the intervals up to the end of the process."""
        self._leave_until(None)
        self._advance(self._bounds.wall)
        return self._intervals

    def _leave_until(self, time_ns: int | None) -> None:
        while self._stack and (time_ns is None or self._stack[-1].end <= time_ns):
            self._advance(self._stack[-1].end)
            self._stack.pop()

    def _advance(self, to: int) -> None:
        to = min(to, self._bounds.wall)
        if self._stack:
            inner = self._stack[-1]
            self._intervals.add(_leaf(inner.kinds, self._had_epoch, inner.step_of), self._cursor, to)
        else:
            for phase, start, end in self._outside:
                if start < to and end > self._cursor:
                    self._intervals.add(phase, max(self._cursor, start), min(to, end))
        self._cursor = max(self._cursor, to)


class _Open(NamedTuple):
    """A span that is open in a sweep."""

    end: int
    kinds: tuple[str, ...]
    """Kinds of the open spans, outermost first, down to this one."""
    step_of: Loop | None
    """The loop, where the outermost is a step that the script makes itself."""


def _outside(bounds: Bounds) -> Sequence[tuple[Phase, int, int]]:
    """Phases of the time in which no span is open, in order, with their begin and end."""
    if bounds.boot is None:
        return [(Phase.UNATTRIBUTED, 0, bounds.wall)]
    told = bounds.told if bounds.told is not None else bounds.wall
    script_start = bounds.script_start if bounds.script_start is not None else told
    script_end = bounds.script_end if bounds.script_end is not None else told
    # What a damaged stream says of the order of these is not believed: each begins where the one before ends.
    marks = list(accumulate((0, bounds.boot, script_start, script_end, told), max))
    marks = [*(min(mark, told) for mark in marks), bounds.wall]
    ends = (Phase.UNATTRIBUTED,) * 2 if bounds.goes_on else (Phase.STARTUP, Phase.TEARDOWN)
    names = [ends[0], Phase.DLPROF, Phase.SCRIPT, ends[1], Phase.UNATTRIBUTED]
    return [(name, begin, end) for name, (begin, end) in zip(names, pairwise(marks), strict=True)]


def leaf(kinds: Sequence[str], had_epoch: bool, step_of: Loop | None = None) -> Phase:
    """The leaf phase of a moment.

    Args:
        kinds: Kinds of the open spans, outermost first; at least one.
        had_epoch: Whether an epoch has begun since the outermost did.
        step_of: The loop, where the outermost is a step that the script makes itself.
    """
    if SpanKind.DLPROF in kinds:
        return Phase.DLPROF
    top, inside = kinds[0], kinds[1:]
    if step_of is not None:
        phase = PHASE_OF_LOOP[step_of]
        return _in_fit(inside, had_epoch=True) if phase is Phase.FIT_STEPS else phase
    if top == SpanKind.FIT:
        return _in_fit(inside, had_epoch)
    return _ALONE.get(top, Phase.SCRIPT)


_leaf = lru_cache(1 << 12)(leaf)
"""A program that calls `predict` for each row has the same few spans open, again and again."""


def _in_fit(inside: Sequence[str], had_epoch: bool) -> Phase:
    if inside and inside[-1] == SpanKind.WAIT:  # for the training, also at the beginning of a validation
        return Phase.FIT_WAIT
    for kind in inside:
        if kind in _IN_FIT:
            return _IN_FIT[kind]
    return Phase.FIT_STEPS if had_epoch else Phase.FIT_BUILD


def _add_moves(
    moves: Counter[tuple[Phase, Phase]], steps: StepBatch, ordinary: Truths, intervals: PhaseIntervals
) -> None:
    """Add what the parts of ordinary steps take from the phase around them, by that phase and the one of the part."""
    if not len(intervals):
        return
    around = np.maximum(0, np.searchsorted(intervals.starts(), steps.start, side="right") - 1)
    in_fit = ordinary & steps.is_of(SpanKind.FIT) & intervals.is_in(Phase.FIT_STEPS)[around]
    # The wait for the first batch of an epoch may lie partly before the epoch's first interval.
    parts = ((Phase.FIT_INPUT, steps.input), (Phase.FIT_WAIT, steps.wait), (Phase.FIT_CALLBACKS, steps.callbacks))
    for phase, part in parts:
        moves[Phase.FIT_STEPS, phase] += int(np.maximum(0, part[in_fit]).sum())
    alone = ordinary & steps.is_of(SpanKind.ON_BATCH) & intervals.is_in(Phase.SCRIPT)[around]
    for name, phase in PHASE_OF_LOOP.items():
        loop = Loop(name)
        own = alone & steps.is_in(loop)
        wait = np.minimum(steps.wait[own], steps.dur[own]) if loop == Loop.TRAIN else np.zeros(1, np.int64)
        moves[Phase.SCRIPT, phase] += int(np.maximum(0, steps.dur[own] - wait).sum())
        moves[Phase.SCRIPT, Phase.FIT_WAIT] += int(np.maximum(0, wait).sum())


def _count(totals: _Totals, fits: int, steps: Mapping[str, int]) -> None:
    """Say how often a phase was entered: calls for fit and its kin, steps for what belongs to steps."""
    for name, phase in PHASE_OF_LOOP.items():
        if steps[Loop(name)] and totals.dur.get(phase):
            totals.count[phase] = steps[Loop(name)]
    in_steps = totals.count.get(Phase.FIT_STEPS, 0)
    for phase in (Phase.FIT_INPUT, Phase.FIT_WAIT, Phase.FIT_CALLBACKS):
        if totals.dur.get(phase):
            totals.count[phase] = max(totals.count.get(phase, 0), in_steps)
    totals.count[Phase.FIT] = fits or in_steps


def _result(totals: _Totals, intervals: PhaseIntervals, bounds: Bounds) -> Phases:
    inside = [_time(totals, phase) for phase in FIT_PHASES if totals.dur.get(phase)]
    totals.dur[Phase.FIT] = sum(part.dur_ns for part in inside)
    top = [_time(totals, phase) for phase in TOP_PHASES if totals.dur.get(phase)]
    listed = [entry for phase in top for entry in ([phase, *inside] if phase.name is Phase.FIT else [phase])]
    return Phases(tuple(listed), intervals, bounds.wall - sum(phase.dur_ns for phase in top))


def _time(totals: _Totals, phase: Phase) -> PhaseTime:
    return PhaseTime(phase, phase.parent, totals.dur[phase], totals.count.get(phase, 0))


def of_tables(
    spans: Iterable[pa.Table],
    steps: Callable[[], Iterable[pa.Table]],
    whose: PhaseThreads,
    process: Bounds,
) -> Phases:
    """Cut the wall time by the tables `spans` and `steps`.

    Args:
        spans: Pieces of the table `spans`.
        steps: Gives pieces of the table `steps`; it is asked twice.
        whose: Threads whose time the wall time is.
        process: What is known of the process; when the script ran is in `spans`.
    """
    times = SpanTimes.of_tables(spans, whose)
    start, end = times.first(SpanKind.SCRIPT) or (None, None)
    if end is not None:  # what a thread does that outlives the script's last line is the program's, too
        end = max(end, *(turn.end_ns for turn in whose.turns)) if whose.turns else end
    bounds = replace(process, boot=process.boot if len(times) else None, script_start=start, script_end=end)
    return cut(times, lambda: (StepBatch.of_table(piece, whose, times) for piece in steps()), bounds)
