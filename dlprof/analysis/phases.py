"""Phases: the wall time of the traced process, cut without overlap.

Every moment of the main thread belongs to exactly one leaf phase, by the spans that are open then
(outermost first decides). Steps of training loops are kept out of the spans for the sake of their
number; their parts are moved between phases as sums, except for the few steps with something inside
them (a compilation, a checkpoint), which are cut exactly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa

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
        SpanKind.INPUT: Phase.FIT_INPUT,
        SpanKind.CALLBACKS: Phase.FIT_CALLBACKS,
        SpanKind.EVALUATE: Phase.FIT_VALIDATION,
        SpanKind.PREDICT: Phase.FIT_VALIDATION,
    }
)
"""The phase of a span inside `fit`; others are part of what is around them."""
_COVERS_NO_TIME = frozenset({SpanKind.SCRIPT, SpanKind.ON_BATCH})
_OF_NO_STEP = frozenset({*_COVERS_NO_TIME, SpanKind.FIT, SpanKind.EPOCH})
"""Spans that are around steps, never inside one."""


@dataclass(frozen=True)
class Interval:
    """A span of the main thread: [start, end) in ns on the run's timeline."""

    start: int
    end: int
    kind: str
    """One of `SpanKind`."""
    step_of: Loop | None = None
    """For a step that the script makes itself (`train_on_batch`): its loop."""

    @property
    def covers_time(self) -> bool:
        """Whether what is in it is no longer the time of what is around it."""
        return self.end > self.start and (self.step_of is not None or self.kind not in _COVERS_NO_TIME)


@dataclass(frozen=True)
class Step:
    """A step of the main thread; times in ns on the run's timeline."""

    loop: Loop
    span: str
    """Kind of the span of its loop: `fit`, `evaluate`, `predict` or `on_batch`."""
    start: int
    dur: int
    input: int
    callbacks: int
    wait: int
    call_start: int
    call: int
    first: bool
    count: int

    @property
    def end(self) -> int:
        """When it ended (ns)."""
        return self.start + self.dur


@dataclass(frozen=True)
class Bounds:
    """The moments that cut a process's life, in ns on the run's timeline; None: not known."""

    wall: int
    boot: int | None
    """First line of dlprof's own code in the process."""
    script_start: int | None
    script_end: int | None
    told: int | None = None
    """Up to when anything is known; None: up to the end."""


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


class PhaseInterval(NamedTuple):
    """A stretch of the main thread's time in one leaf phase (ns)."""

    phase: Phase
    start_ns: int
    dur_ns: int


@dataclass(frozen=True)
class Phases:
    """The phases of a run.

    Attributes:
        phases: Those with some time, at the top in the order of a usual program; those inside `fit` come after it.
        intervals: The leaf phases in order of time; steps are not cut into their parts here.
        unattributed_ns: What is left of the wall time.
    """

    phases: tuple[PhaseTime, ...]
    intervals: tuple[PhaseInterval, ...]
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
    cut_exactly = _with_something_inside(steps, [span for span in spans if span.kind not in _OF_NO_STEP])
    parts = [part for index in cut_exactly for part in _parts(steps[index])]
    intervals = _leaf_intervals([*spans, *parts], bounds)
    totals = _Totals()
    for phase, _start, dur in intervals:
        totals.add(phase, dur, 1)
    ordinary = [step for index, step in enumerate(steps) if index not in cut_exactly]
    _move_steps(totals, ordinary, intervals)
    _count(totals, spans, steps)
    return _result(totals, intervals, bounds)


def _with_something_inside(steps: Sequence[Step], spans: Sequence[Interval]) -> AbstractSet[int]:
    """Indices of the first calls, and of the steps that a span begins in."""
    ends = [step.end for step in steps]
    indices = {index for index, step in enumerate(steps) if step.first}
    for span in spans:
        index = bisect_right(ends, span.start)
        if index < len(steps) and steps[index].start <= span.start:
            indices.add(index)
    return indices


def _parts(step: Step) -> Iterable[Interval]:
    """A step as spans: waiting for input, callbacks before and after, a compiling call."""
    if step.span == SpanKind.ON_BATCH:
        yield Interval(step.start, step.end, SpanKind.ON_BATCH, step.loop)
    elif step.span == SpanKind.FIT:
        if step.input:
            yield Interval(step.start - step.input, step.start, SpanKind.INPUT)
        before = min(step.callbacks, max(0, step.call_start - step.start)) if step.call else 0
        yield Interval(step.start, step.start + before, SpanKind.CALLBACKS)
        after = step.end - (step.callbacks - before)
        yield Interval(after - step.wait, after, SpanKind.WAIT)  # before the callbacks, as Keras reads values for them
        yield Interval(after, step.end, SpanKind.CALLBACKS)
    if step.first and step.call and step.loop == Loop.TRAIN:
        yield Interval(step.call_start, step.call_start + step.call, SpanKind.GRAPH_COMPILE)


def _leaf_intervals(spans: Sequence[Interval], bounds: Bounds) -> tuple[PhaseInterval, ...]:
    sweep = _Sweep(bounds)
    useful = [span for span in spans if span.covers_time]
    for span in sorted(useful, key=lambda span: (span.start, -span.end)):
        sweep.enter(span)
    return sweep.finish()


class _Sweep:
    """A walk over the spans in order of time, with the stack of those that are open."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._stack: list[Interval] = []
        self._had_epoch = False
        self._cursor = 0
        self._intervals: list[PhaseInterval] = []

    def enter(self, span: Interval) -> None:
        """The next span begins."""
        self._leave_until(span.start)
        self._advance(span.start)
        if not self._stack:
            self._had_epoch = False
        self._had_epoch = self._had_epoch or span.kind == SpanKind.EPOCH
        # A cut part may reach a few hundred ns over what is around it.
        end = min(span.end, self._stack[-1].end) if self._stack else span.end
        self._stack.append(Interval(span.start, end, span.kind, span.step_of))

    def finish(self) -> tuple[PhaseInterval, ...]:
        """No more spans: the intervals up to the end of the process."""
        self._leave_until(None)
        self._advance(self._bounds.wall)
        return tuple(self._intervals)

    def _leave_until(self, time_ns: int | None) -> None:
        while self._stack and (time_ns is None or self._stack[-1].end <= time_ns):
            self._advance(self._stack[-1].end)
            self._stack.pop()

    def _advance(self, to: int) -> None:
        to = min(to, self._bounds.wall)
        if self._stack:
            kinds = [span.kind for span in self._stack]
            self._emit(leaf(kinds, self._had_epoch, self._stack[0].step_of), self._cursor, to)
        else:
            for phase, start, end in _outside(self._bounds, self._cursor, to):
                self._emit(phase, start, end)
        self._cursor = max(self._cursor, to)

    def _emit(self, phase: Phase, start: int, end: int) -> None:
        if end <= start:
            return
        if self._intervals and self._intervals[-1].phase == phase:
            start = self._intervals.pop().start_ns
        self._intervals.append(PhaseInterval(phase, start, end - start))


def _outside(bounds: Bounds, start: int, end: int) -> Iterable[tuple[Phase, int, int]]:
    """Phases of a stretch in which no span is open, with their begin and end."""
    if bounds.boot is None:
        return [(Phase.UNATTRIBUTED, start, end)]
    told = bounds.told if bounds.told is not None else bounds.wall
    script_start = bounds.script_start if bounds.script_start is not None else told
    script_end = bounds.script_end if bounds.script_end is not None else told
    # What a damaged stream says of the order of these is not believed: each begins where the one before ends.
    marks = list(accumulate((0, bounds.boot, script_start, script_end, told), max))
    marks = [*(min(mark, told) for mark in marks), bounds.wall]
    names = [Phase.STARTUP, Phase.DLPROF, Phase.SCRIPT, Phase.TEARDOWN, Phase.UNATTRIBUTED]
    return [(name, max(start, a), min(end, b)) for name, (a, b) in zip(names, pairwise(marks), strict=True)]


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


def _in_fit(inside: Sequence[str], had_epoch: bool) -> Phase:
    if inside and inside[-1] == SpanKind.WAIT:  # for the training, also at the beginning of a validation
        return Phase.FIT_WAIT
    for kind in inside:
        if kind in _IN_FIT:
            return _IN_FIT[kind]
    return Phase.FIT_STEPS if had_epoch else Phase.FIT_BUILD


def _move_steps(totals: _Totals, steps: Sequence[Step], intervals: Sequence[PhaseInterval]) -> None:
    """Move the parts of ordinary steps to the phases that they belong to."""
    starts = [interval.start_ns for interval in intervals]
    for step in steps:
        index = max(0, bisect_left(starts, step.start + 1) - 1)
        around = intervals[index].phase if intervals else None
        if step.span == SpanKind.FIT and around is Phase.FIT_STEPS:
            # The wait for the first batch of an epoch may lie partly before the epoch's first interval.
            totals.move(Phase.FIT_STEPS, Phase.FIT_INPUT, step.input)
            totals.move(Phase.FIT_STEPS, Phase.FIT_WAIT, step.wait)
            totals.move(Phase.FIT_STEPS, Phase.FIT_CALLBACKS, step.callbacks)
        elif step.span == SpanKind.ON_BATCH and around is Phase.SCRIPT:
            wait = min(step.wait, step.dur) if step.loop == Loop.TRAIN else 0
            totals.move(Phase.SCRIPT, PHASE_OF_LOOP[step.loop], step.dur - wait)
            totals.move(Phase.SCRIPT, Phase.FIT_WAIT, wait)


def _count(totals: _Totals, spans: Sequence[Interval], steps: Sequence[Step]) -> None:
    """Say how often a phase was entered: calls for fit and its kin, steps for what belongs to steps."""
    for loop, phase in PHASE_OF_LOOP.items():
        own = (step for step in steps if step.loop == loop and step.span in (SpanKind.FIT, SpanKind.ON_BATCH))
        number = sum(step.count for step in own)
        if number and totals.dur.get(phase):
            totals.count[phase] = number
    in_steps = totals.count.get(Phase.FIT_STEPS, 0)
    for phase in (Phase.FIT_INPUT, Phase.FIT_WAIT, Phase.FIT_CALLBACKS):
        if totals.dur.get(phase):
            totals.count[phase] = max(totals.count.get(phase, 0), in_steps)
    totals.count[Phase.FIT] = sum(1 for span in spans if span.kind == SpanKind.FIT) or in_steps


def _result(totals: _Totals, intervals: tuple[PhaseInterval, ...], bounds: Bounds) -> Phases:
    inside = [_time(totals, phase) for phase in FIT_PHASES if totals.dur.get(phase)]
    totals.dur[Phase.FIT] = sum(part.dur_ns for part in inside)
    top = [_time(totals, phase) for phase in TOP_PHASES if totals.dur.get(phase)]
    listed = [entry for phase in top for entry in ([phase, *inside] if phase.name is Phase.FIT else [phase])]
    return Phases(tuple(listed), intervals, bounds.wall - sum(phase.dur_ns for phase in top))


def _time(totals: _Totals, phase: Phase) -> PhaseTime:
    return PhaseTime(phase, phase.parent, totals.dur[phase], totals.count.get(phase, 0))


def of_main_thread(
    spans: pa.Table | None,
    steps: pa.Table | None,
    main_thread: int | None,
    wall_ns: int,
    boot_ns: int | None,
    told_ns: int | None = None,
) -> Phases:
    """Cut the wall time by the tables `spans` and `steps`.

    Args:
        spans: Table `spans`, or None.
        steps: Table `steps`, or None.
        main_thread: Thread whose time the wall time is.
        wall_ns: From start to end of the process (ns).
        boot_ns: When dlprof's own code began in it (ns), or None.
        told_ns: Up to when anything is known (ns); what is later is unattributed. None: all is.
    """
    rows = [row for row in spans.to_pylist() if row["thread_id"] == main_thread] if spans is not None else []
    kinds = {row["span_id"]: row["kind"] for row in rows}
    intervals = [Interval(row["start_ns"], row["start_ns"] + row["dur_ns"], row["kind"]) for row in rows]
    own = [row for row in steps.to_pylist() if row["thread_id"] == main_thread] if steps is not None else []
    bounds = replace(_bounds(intervals, wall_ns, boot_ns if rows else None), told=told_ns)
    return compute(intervals, [_step(row, kinds) for row in own], bounds)


def _bounds(spans: Sequence[Interval], wall_ns: int, boot_ns: int | None) -> Bounds:
    script = next((span for span in spans if span.kind == SpanKind.SCRIPT), None)
    return Bounds(wall_ns, boot_ns, script.start if script else None, script.end if script else None)


def _step(row: Mapping[str, Any], kinds: Mapping[int, str]) -> Step:
    return Step(
        loop=Loop(row["loop"]),
        span=kinds.get(row["loop_id"], SpanKind.ON_BATCH),
        start=row["start_ns"],
        dur=row["dur_ns"],
        input=row["input_ns"] or 0,
        callbacks=row["callbacks_ns"] or 0,
        wait=row["wait_ns"] or 0,
        call_start=row["start_ns"] + (row["call_offset_ns"] or 0),
        call=row["call_ns"] or 0,
        first=row["first"],
        count=row["count"],
    )
