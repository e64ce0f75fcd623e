"""Phases: the wall time of the traced process, cut without overlap.

Every moment of the main thread belongs to exactly one leaf phase, by the spans that are open then
(outermost first decides). Steps of training loops are kept out of the spans for the sake of their
number; their parts are moved between phases as sums, except for the few steps with something inside
them (a compilation, a checkpoint), which are cut exactly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

TOP_LEVEL = (
    "startup", "import", "data", "construct", "compile", "fit", "evaluate", "predict", "save", "script", "teardown",
    "dlprof",
)  # fmt: skip
"""Top-level phases in the order of a usual program."""
FIT = ("fit.build", "fit.graph_compile", "fit.input", "fit.steps", "fit.callbacks", "fit.validation")
"""Sub-phases of fit; they sum to it."""

_BY_KIND = {
    "import": "import", "data": "data", "construct": "construct", "compile": "compile", "save": "save",
    "evaluate": "evaluate", "predict": "predict", "input": "data", "build": "compile",
    "graph_compile": "compile", "callbacks": "script",
}  # fmt: skip
_IN_FIT = {
    "callbacks": "fit.callbacks", "evaluate": "fit.validation", "predict": "fit.validation",
    "graph_compile": "fit.graph_compile", "build": "fit.build", "construct": "fit.build", "compile": "fit.build",
    "input": "fit.input",
}  # fmt: skip
OF_LOOP = {"train": "fit.steps", "test": "evaluate", "predict": "predict", "data": "data"}
"""The phase of a step outside fit, by its loop."""


@dataclass(frozen=True)
class Interval:
    """A span of the main thread: [start, end) in ns on the run's time line."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Step:
    """A step of the main thread; times in ns on the run's time line."""

    loop: str
    loop_kind: str
    """Kind of the span of its loop: `fit`, `evaluate`, `predict` or `on_batch`."""
    start: int
    dur: int
    input: int
    callbacks: int
    call_start: int
    call: int
    first: bool
    count: int


@dataclass(frozen=True)
class Bounds:
    """The moments that cut a process's life, in ns on the run's time line; None: not known."""

    wall: int
    boot: int | None
    """First line of dlprof's own code in the process."""
    script_start: int | None
    script_end: int | None


@dataclass(frozen=True)
class Phase:
    """Time in one phase.

    Attributes:
        name: `fit`, `fit.steps`, ...
        parent: `fit` for its sub-phases, else None.
        dur_ns: Time in it (ns).
        count: Separate entries; steps for what belongs to steps.
    """

    name: str
    parent: str | None
    dur_ns: int
    count: int


@dataclass(frozen=True)
class Phases:
    """The phases of a run, and the leaf intervals behind them in order of time."""

    phases: tuple[Phase, ...]
    intervals: tuple[tuple[str, int, int], ...]
    """(leaf phase, start, duration), ns; steps are not cut into their parts here."""
    unattributed_ns: int


@dataclass
class _Totals:
    dur: dict[str, int] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)

    def add(self, phase: str, dur: int, count: int = 0) -> None:
        self.dur[phase] = self.dur.get(phase, 0) + dur
        self.count[phase] = self.count.get(phase, 0) + count


def compute(spans: Sequence[Interval], steps: Sequence[Step], bounds: Bounds) -> Phases:
    """Cut the wall time into phases.

    Args:
        spans: Spans of the main thread, in any order, properly nested.
        steps: Steps of the main thread, in order of time.
        bounds: The process's life.
    """
    inner = [span for span in spans if span.kind not in ("epoch", "on_batch", "fit", "script")]
    special = _with_something_inside(steps, inner)
    cut = list(spans)
    for index in special:
        cut.extend(_parts(steps[index]))
    intervals = _leaf_intervals(cut, bounds)
    totals = _Totals()
    for phase, _start, dur in intervals:
        totals.add(phase, dur, 1)
    ordinary = [step for index, step in enumerate(steps) if index not in special]
    _move_steps(totals, ordinary, intervals)
    _count(totals, spans, steps)
    return _result(totals, intervals, bounds)


def _with_something_inside(steps: Sequence[Step], spans: Sequence[Interval]) -> set[int]:
    """Indices of the first calls, and of the steps that a span begins in."""
    ends = [step.start + step.dur for step in steps]
    found = {index for index, step in enumerate(steps) if step.first}
    for span in spans:
        index = bisect_right(ends, span.start)
        if index < len(steps) and steps[index].start <= span.start:
            found.add(index)
    return found


def _parts(step: Step) -> Iterable[Interval]:
    """A step as spans: waiting for input, callbacks before and after, a compiling call."""
    end = step.start + step.dur
    if step.loop_kind == "on_batch":
        yield Interval(step.start, end, f"step of {step.loop}")
    elif step.loop_kind == "fit":
        if step.input:
            yield Interval(step.start - step.input, step.start, "input")
        before = min(step.callbacks, max(0, step.call_start - step.start)) if step.call else 0
        yield Interval(step.start, step.start + before, "callbacks")
        yield Interval(end - (step.callbacks - before), end, "callbacks")
    if step.first and step.call and step.loop == "train":
        yield Interval(step.call_start, step.call_start + step.call, "graph_compile")


def _leaf_intervals(spans: Sequence[Interval], bounds: Bounds) -> tuple[tuple[str, int, int], ...]:
    sweep = _Sweep(bounds)
    useful = [s for s in spans if s.kind not in ("script", "on_batch") and s.end > s.start]
    for span in sorted(useful, key=lambda s: (s.start, -s.end)):
        sweep.enter(span)
    return sweep.finish()


class _Sweep:
    """A walk over the spans in order of time, with the stack of those that are open."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._stack: list[Interval] = []
        self._had_epoch = False
        self._cursor = 0
        self._found: list[tuple[str, int, int]] = []

    def enter(self, span: Interval) -> None:
        """The next span begins."""
        self._leave_until(span.start)
        self._advance(span.start)
        if not self._stack:
            self._had_epoch = False
        self._had_epoch = self._had_epoch or span.kind == "epoch"
        # A cut part may reach a few hundred ns over what is around it.
        end = min(span.end, self._stack[-1].end) if self._stack else span.end
        self._stack.append(Interval(span.start, end, span.kind))

    def finish(self) -> tuple[tuple[str, int, int], ...]:
        """No more spans: the intervals up to the end of the process."""
        self._leave_until(None)
        self._advance(self._bounds.wall)
        return tuple(self._found)

    def _leave_until(self, time_ns: int | None) -> None:
        while self._stack and (time_ns is None or self._stack[-1].end <= time_ns):
            self._advance(self._stack[-1].end)
            self._stack.pop()

    def _advance(self, to: int) -> None:
        to = min(to, self._bounds.wall)
        if self._stack:
            self._emit(leaf([span.kind for span in self._stack], self._had_epoch), self._cursor, to)
        else:
            for phase, start, end in _outside(self._bounds, self._cursor, to):
                self._emit(phase, start, end)
        self._cursor = max(self._cursor, to)

    def _emit(self, phase: str, start: int, end: int) -> None:
        if end <= start:
            return
        if self._found and self._found[-1][0] == phase:
            start = self._found.pop()[1]
        self._found.append((phase, start, end - start))


def _outside(bounds: Bounds, start: int, end: int) -> Iterable[tuple[str, int, int]]:
    """Phases of a stretch in which no span is open."""
    if bounds.boot is None:
        return [("unattributed", start, end)]
    script_start = bounds.script_start if bounds.script_start is not None else bounds.wall
    script_end = bounds.script_end if bounds.script_end is not None else bounds.wall
    marks = [0, bounds.boot, script_start, script_end, bounds.wall]
    names = ["startup", "dlprof", "script", "teardown"]
    return [(name, max(start, a), min(end, b)) for name, a, b in zip(names, marks, marks[1:], strict=False)]


def leaf(kinds: list[str], had_epoch: bool) -> str:
    """The leaf phase of a moment.

    Args:
        kinds: Kinds of the open spans, outermost first; at least one.
        had_epoch: Whether an epoch has begun since the outermost did.
    """
    if "dlprof" in kinds:
        return "dlprof"
    top, inside = kinds[0], kinds[1:]
    if top.startswith("step of "):
        loop = OF_LOOP[top[len("step of ") :]]
        return _in_fit(inside, had_epoch=True) if loop == "fit.steps" else loop
    if top == "fit":
        return _in_fit(inside, had_epoch)
    return _BY_KIND.get(top, "script")


def _in_fit(inside: list[str], had_epoch: bool) -> str:
    for kind in inside:
        if kind in _IN_FIT:
            return _IN_FIT[kind]
    return "fit.steps" if had_epoch else "fit.build"


def _move_steps(totals: _Totals, steps: Sequence[Step], intervals: tuple[tuple[str, int, int], ...]) -> None:
    """Move the parts of ordinary steps to the phases that they belong to."""
    starts = [start for _, start, _ in intervals]
    for step in steps:
        index = max(0, bisect_left(starts, step.start + 1) - 1)
        around = intervals[index][0] if intervals else ""
        if step.loop_kind == "fit" and around == "fit.steps":
            # The wait for the first batch of an epoch may lie partly before the epoch's first interval.
            totals.add("fit.input", step.input)
            totals.add("fit.callbacks", step.callbacks)
            totals.add("fit.steps", -step.input - step.callbacks)
        elif step.loop_kind == "on_batch" and around == "script":
            totals.add(OF_LOOP[step.loop], step.dur)
            totals.add("script", -step.dur)


def _count(totals: _Totals, spans: Sequence[Interval], steps: Sequence[Step]) -> None:
    """Say how often a phase was entered: calls for fit and its kin, steps for what belongs to steps."""
    for loop, phase in OF_LOOP.items():
        number = sum(step.count for step in steps if step.loop == loop and step.loop_kind in ("fit", "on_batch"))
        if number and totals.dur.get(phase):
            totals.count[phase] = number
    for phase in ("fit.input", "fit.callbacks"):
        if totals.dur.get(phase):
            totals.count[phase] = max(totals.count.get(phase, 0), totals.count.get("fit.steps", 0))
    totals.count["fit"] = sum(1 for span in spans if span.kind == "fit") or totals.count.get("fit.steps", 0)


def _result(totals: _Totals, intervals: tuple[tuple[str, int, int], ...], bounds: Bounds) -> Phases:
    found: list[Phase] = []
    for name in TOP_LEVEL:
        children = [
            Phase(child, "fit", totals.dur[child], totals.count.get(child, 0))
            for child in FIT
            if name == "fit" and totals.dur.get(child)
        ]
        dur = sum(child.dur_ns for child in children) if name == "fit" else totals.dur.get(name, 0)
        if dur:
            found.append(Phase(name, None, dur, totals.count.get(name, 0)))
        found.extend(children)
    known = sum(phase.dur_ns for phase in found if phase.parent is None)
    return Phases(tuple(found), intervals, bounds.wall - known)


def of_main_thread(
    spans: pa.Table | None, steps: pa.Table | None, main_thread: int | None, wall_ns: int, boot_ns: int | None
) -> Phases:
    """Cut the wall time by the tables `spans` and `steps`.

    Args:
        spans: Table `spans`, or None.
        steps: Table `steps`, or None.
        main_thread: Thread whose time the wall time is.
        wall_ns: From start to end of the process (ns).
        boot_ns: When dlprof's own code began in it (ns), or None.
    """
    rows = [row for row in spans.to_pylist() if row["thread_id"] == main_thread] if spans is not None else []
    script = next((row for row in rows if row["kind"] == "script"), None)
    bounds = Bounds(
        wall_ns,
        boot_ns if rows else None,
        script["start_ns"] if script else None,
        script["start_ns"] + script["dur_ns"] if script else None,
    )
    kinds = {row["span_id"]: row["kind"] for row in rows}
    intervals = [Interval(row["start_ns"], row["start_ns"] + row["dur_ns"], row["kind"]) for row in rows]
    own = [row for row in steps.to_pylist() if row["thread_id"] == main_thread] if steps is not None else []
    return compute(intervals, [_step(row, kinds) for row in own], bounds)


def _step(row: dict[str, Any], kinds: dict[int, str]) -> Step:
    return Step(
        loop=row["loop"],
        loop_kind=kinds.get(row["loop_id"], "on_batch"),
        start=row["start_ns"],
        dur=row["dur_ns"],
        input=row["input_ns"] or 0,
        callbacks=row["callbacks_ns"] or 0,
        call_start=row["start_ns"] + (row["call_offset_ns"] or 0),
        call=row["call_ns"] or 0,
        first=row["first"],
        count=row["count"],
    )
