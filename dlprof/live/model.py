"""What is known of a run while it goes on: fed record by record, in bounded memory, and asked at a moment."""

from __future__ import annotations

from typing import NamedTuple

from dlprof.ingest.own.stream_tables import LOOP_NAMES
from dlprof.live.loop import LoopProgress
from dlprof.live.machine import Machine
from dlprof.live.phase_clock import PhaseClock
from dlprof.live.records import LoopLength, Metric, ProcessFacts, Span, Step
from dlprof.schema.vocabulary import LOOP_OF_SPAN, Loop, Phase, ProbeState, SpanKind

_METRICS_MOST = 64
"""Metrics kept; a script may invent a new name in every step."""
_COVERS_NO_TIME = (SpanKind.SCRIPT, SpanKind.ON_BATCH)


class ProbeStatus(NamedTuple):
    """A `ProbeState`, or `starting` or `waiting` (for a kernel window), and why it is so."""

    state: str
    reason: str | None = None


ON = ProbeStatus(ProbeState.ON)
STARTING = ProbeStatus("starting")
WAITING = ProbeStatus("waiting")
_AT_BOOT = {"phases": ON, "lines": ON, "kernels": WAITING}
"""Probes inside the process when it begins to tell; they say themselves when they cannot work."""


class LiveRun:
    """All that a view of a running script shows.

    Args:
        label: Name of the script.
        backend: Where it runs; empty: Keras will say, if there is one.
        origin_ns: When the process was started, on the run's clock.

    Attributes:
        pid: The traced process; None before it is known.
        phases: The time in each phase.
        loop: The loop whose step ended last; None before the first step.
        metrics: The last value of each metric that Keras gave.
        machine: Cores, memory and GPUs.
        streaming: Whether the in-process probe has said anything: else phases are not known.
        interrupted: Whether Ctrl-C came, and the script goes on.
    """

    def __init__(self, label: str, backend: str, origin_ns: int) -> None:
        self.label = label
        self.backend = backend
        self.origin_ns = origin_ns
        self.pid: int | None = None
        self.phases = PhaseClock(origin_ns)
        self.loop: LoopProgress | None = None
        self.metrics: dict[str, Metric] = {}
        self.machine = Machine()
        self.streaming = False
        self.interrupted = False
        self._probes: dict[str, ProbeStatus] = {}
        self._main_thread: int | None = None
        self._script_span = 0
        self._loops = {name: LoopProgress(name) for name in Loop}
        self._open: dict[int, Span] = {}
        self._on_batch: dict[int, Span] = {}

    @property
    def title(self) -> str:
        """The script, and what it runs on, where that is known."""
        return f"{self.label} on {self.backend}" if self.backend else self.label

    def probe(self, name: str) -> ProbeStatus:
        """How a probe is."""
        return self._probes.get(name, STARTING)

    def probe_said(self, name: str, status: ProbeStatus) -> None:
        """A probe said how it is; that it starts says nothing new."""
        if status.state != STARTING.state or name not in self._probes:
            self._probes[name] = status

    def process_said(self, facts: ProcessFacts) -> None:
        """The in-process probe said something of the process."""
        if facts.main_thread is not None:
            self._main_thread = facts.main_thread
        if facts.boot_ns is not None:
            self.streaming = True
            self.phases.outside(Phase.DLPROF, facts.boot_ns)
            for name, status in _AT_BOOT.items():
                if self.probe(name) == STARTING:
                    self._probes[name] = status
        if facts.keras_backend is not None and not self.backend:
            self.backend = facts.keras_backend

    def begin(self, span: Span, time_ns: int) -> None:
        """A span begins."""
        if span.kind == SpanKind.SCRIPT:
            self._script_span = span.number
            self.phases.outside(Phase.SCRIPT, time_ns)
        elif span.kind == SpanKind.ON_BATCH:
            self._on_batch[span.number] = span
        elif span.kind == SpanKind.DLPROF and "kernel" in span.name:
            self._probes["kernels"] = ON
        if span.kind == SpanKind.DLPROF:
            for loop in self._loops.values():
                loop.pause()
        if span.kind in _COVERS_NO_TIME:
            return
        self._open[span.number] = span
        if span.kind in LOOP_OF_SPAN:
            self._loop_of(span).begin(new_training=span.kind == SpanKind.FIT)
        trains = span.kind in LOOP_OF_SPAN and self._main_thread is not None and not self.phases.open()
        if trains or span.thread == self._phase_thread():
            self.phases.begin(span, time_ns)

    def end(self, number: int, time_ns: int) -> None:
        """A span ends."""
        self._open.pop(number, None)
        self.phases.end(number, time_ns)
        if number == self._script_span:
            self.phases.outside(Phase.TEARDOWN, time_ns)

    def expect(self, number: int, length: LoopLength) -> None:
        """Keras said how long the loop in a span will be."""
        span = self._open.get(number)
        if span is not None and span.kind in LOOP_OF_SPAN:
            self._loop_of(span).expect(length)

    def step(self, step: Step) -> None:
        """A step is over."""
        span = self._open.get(step.loop) or self._on_batch.get(step.loop)
        if span is None:
            return
        self.loop = self._loop_of(span)
        self.loop.add(step)
        if step.thread == self._phase_thread():
            self.phases.step(step, span.kind, self.loop.name)

    def valued(self, number: int, epoch: int, step: int, time_ns: int) -> None:
        """Values of a step of the loop in a span are known."""
        span = self._open.get(number)
        if span is not None:
            self._loop_of(span).valued(epoch, step, time_ns)

    def metric(self, name: str, metric: Metric) -> None:
        """Keras computed a metric."""
        if name in self.metrics or len(self.metrics) < _METRICS_MOST:
            self.metrics[name] = metric

    def _phase_thread(self) -> int | None:
        """The thread that phases are of: another one while that trains and the main one does nothing that is seen."""
        spans = self.phases.open()
        return spans[0].thread if spans else self._main_thread

    def _loop_of(self, span: Span) -> LoopProgress:
        by_kind = LOOP_OF_SPAN.get(span.kind, Loop.PREDICT)
        return self._loops[Loop(LOOP_NAMES.get(span.name, by_kind))]

    def doing(self) -> str:
        """What is being done: the phase, or what is imported or compiled in it."""
        spans = self.phases.open()
        if spans and spans[-1].kind in (SpanKind.IMPORT, SpanKind.GRAPH_COMPILE, SpanKind.GRAPH_STAGE):
            return f"{spans[-1].kind.replace('_', ' ')} {spans[-1].name}"
        return self.phases.current

    def in_loop(self) -> bool:
        """Whether fit, evaluate or predict goes on."""
        return any(span.kind in LOOP_OF_SPAN for span in self.phases.open())
