"""Steps of the main thread, a batch of them at a time, for the phases that they are cut into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Integers, Truths, integers, truths
from dlprof.analysis.phase_spans import Interval, SpanTimes
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.schema.vocabulary import Loop, SpanKind
from dlprof.store.values import values

COLUMNS = (
    "thread_id", "loop", "loop_id", "count", "start_ns", "dur_ns", "input_ns", "callbacks_ns", "wait_ns",
    "call_offset_ns", "call_ns", "first",
)  # fmt: skip
"""Columns of the table `steps` that are looked at."""
_LOOPS: tuple[str, ...] = tuple(Loop)
_SPANS: tuple[str, ...] = (SpanKind.FIT, SpanKind.EVALUATE, SpanKind.PREDICT, SpanKind.ON_BATCH)


@dataclass(frozen=True, slots=True)
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

    def parts(self) -> Iterator[Interval]:
        """It as spans: waiting for input, callbacks before and after, a compiling call."""
        if self.span == SpanKind.ON_BATCH:
            yield Interval(self.start, self.end, SpanKind.ON_BATCH, self.loop)
        elif self.span == SpanKind.FIT:
            if self.input:
                yield Interval(self.start - self.input, self.start, SpanKind.INPUT)
            before = min(self.callbacks, max(0, self.call_start - self.start)) if self.call else 0
            yield Interval(self.start, self.start + before, SpanKind.CALLBACKS)
            after = self.end - (self.callbacks - before)
            yield Interval(after - self.wait, after, SpanKind.WAIT)  # before the callbacks, as Keras reads values there
            yield Interval(after, self.end, SpanKind.CALLBACKS)
        if self.first and self.call and self.loop == Loop.TRAIN:
            yield Interval(self.call_start, self.call_start + self.call, SpanKind.GRAPH_COMPILE)


@dataclass(frozen=True)
class StepBatch:
    """Steps that follow each other, an array of each field of `Step`; loops and spans by their index."""

    loop: Integers
    span: Integers
    start: Integers
    dur: Integers
    input: Integers
    callbacks: Integers
    wait: Integers
    call_start: Integers
    call: Integers
    first: Truths
    count: Integers

    @classmethod
    def of(cls, steps: Sequence[Step]) -> StepBatch:
        """Some steps."""
        numbers = ("start", "dur", "input", "callbacks", "wait", "call_start", "call", "count")
        return cls(
            loop=np.array([_LOOPS.index(step.loop) for step in steps], np.int64),
            span=np.array([_SPANS.index(step.span) for step in steps], np.int64),
            first=np.array([step.first for step in steps], bool),
            **{name: np.array([getattr(step, name) for step in steps], np.int64) for name in numbers},
        )

    @classmethod
    def of_table(cls, table: pa.Table, whose: PhaseThreads, spans: SpanTimes) -> StepBatch:
        """Those of a piece of the table `steps` that are of the thread that phases are of.

        Args:
            table: With the columns of COLUMNS.
            whose: Which thread that is.
            spans: Its spans.
        """
        own = table.filter(pa.array(whose.begin(table)))
        start, loop_id = integers(own["start_ns"]), integers(own["loop_id"])
        span = np.full(len(start), _SPANS.index(SpanKind.ON_BATCH))
        for place, kind in enumerate(_SPANS[:-1]):
            span[spans.is_of(loop_id, kind)] = place
        return cls(
            loop=np.array([_LOOPS.index(Loop(name)) for name in values(own["loop"])], np.int64),
            span=span,
            start=start,
            dur=integers(own["dur_ns"]),
            input=integers(own["input_ns"]),
            callbacks=integers(own["callbacks_ns"]),
            wait=integers(own["wait_ns"]),
            call_start=start + integers(own["call_offset_ns"]),
            call=integers(own["call_ns"]),
            first=truths(own["first"]),
            count=integers(own["count"]),
        )

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end(self) -> Integers:
        """When each ended (ns)."""
        return self.start + self.dur

    def is_of(self, span: str) -> Truths:
        """Which are steps of a loop of this kind."""
        return np.asarray(self.span == _SPANS.index(span), bool)

    def is_in(self, loop: str) -> Truths:
        """Which are of a loop."""
        return np.asarray(self.loop == _LOOPS.index(loop), bool)

    def step(self, row: int) -> Step:
        """One of them."""
        names = ("start", "dur", "input", "callbacks", "wait", "call_start", "call", "count")
        numbers = {name: int(getattr(self, name)[row]) for name in names}
        return Step(_LOOPS[self.loop[row]], _SPANS[self.span[row]], first=bool(self.first[row]), **numbers)

    def with_something_inside(self, begins: Integers) -> Truths:
        """The first calls, and the steps that a span begins in, also inside of steps of a loop that is called in them.

        Args:
            begins: When the spans begin, in order (ns).
        """
        found = self.first.copy()
        if not len(self):
            return found
        low, high = np.searchsorted(begins, [self.start.min(), self.end.max()])
        for rows in (np.arange(len(self)), self._outermost()):
            at = np.searchsorted(self.end[rows], begins[low:high], side="right")
            known = at < len(rows)
            last = rows[at[known]]
            found[last[self.start[last] <= begins[low:high][known]]] = True
        return found

    def _outermost(self) -> Integers:
        """Rows of the steps that are inside no other: those of a call in a callback end before the step around them."""
        later = np.minimum.accumulate(self.start[::-1])[::-1]
        return np.flatnonzero(np.append(self.start[:-1] < later[1:], True))
