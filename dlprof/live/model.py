"""What is known of a run while it goes on: fed record by record, in bounded memory, and asked at a moment.

Times are nanoseconds of the run's clock (`time.perf_counter_ns`). Phases are cut as in the report, but record by
record; the two agree to about a millisecond.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dlprof_probes.wire import NONE, SpanKind

from dlprof.analysis import phases
from dlprof.ingest.own.wire import LOOP_NAMES
from dlprof.schema.vocabulary import PHASE_OF_LOOP

RECENT_STEPS = 512
"""How many records of steps the median and the strip look back."""
_NAMES_AT_MOST = 64
"""Metrics kept; a script may invent a new name in every step."""
_STRETCHES = 256
_LOOPS = (SpanKind.FIT, SpanKind.EVALUATE, SpanKind.PREDICT)
_STARTING = ("starting", None)
_WITH_THE_STREAM = {"phases": "on", "lines": "on", "kernels": "waiting"}
"""State of the probes inside the process when it begins to tell; they say themselves when they cannot work."""
_COVERS_NO_TIME = (SpanKind.SCRIPT, SpanKind.ON_BATCH)


class Step(NamedTuple):
    """A record of one step, or of `steps` that became one (`wire.STEP`); times in ns."""

    thread: int
    loop: int
    epoch: int
    step: int
    steps: int
    begin_ns: int
    end_ns: int
    input_ns: int
    callbacks_ns: int
    call_offset_ns: int
    call_ns: int
    first: bool


class Metric(NamedTuple):
    """The last value of a metric, and where Keras gave it; `step` is None for that of an epoch."""

    value: float
    epoch: int | None
    step: int | None


class Span(NamedTuple):
    """An open span."""

    number: int
    kind: str
    name: str
    thread: int


@dataclass
class Loop:
    """Steps of one kind of loop: train, test or predict.

    Attributes:
        seen: Records that went into `recent_ns` so far: tells a strip which of the recent steps belong together.
        recent_ns: Time per step of the recent records (ns), the wait for the batch included.
        epochs: How many epochs there will be, where Keras says so.
        steps: How many steps an epoch has, likewise.
    """

    name: str
    epoch: int | None = None
    step: int | None = None
    epochs: int | None = None
    steps: int | None = None
    last_end_ns: int = 0
    seen: int = 0
    recent_ns: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))

    def add(self, step: Step) -> None:
        """A step is over."""
        self.epoch = step.epoch if step.epoch != NONE else None
        self.step = step.step + step.steps - 1
        self.last_end_ns = step.end_ns
        if not step.first:  # it holds a compilation: thousands of times the others
            self.seen += 1
            self.recent_ns.append((step.end_ns - step.begin_ns + step.input_ns) / step.steps)

    @property
    def median_ns(self) -> float | None:
        """Median time of a recent step (ns)."""
        return statistics.median(self.recent_ns) if self.recent_ns else None

    @property
    def per_s(self) -> float | None:
        """Recent steps per second of their own time: pauses between epochs do not count."""
        return 1e9 * len(self.recent_ns) / sum(self.recent_ns) if self.recent_ns and sum(self.recent_ns) else None

    def place(self) -> list[str]:
        """`epoch 3/10` and `step 41/469`, as far as they are known; both count from one."""
        parts = []
        for word, number, of in (("epoch", self.epoch, self.epochs), ("step", self.step, self.steps)):
            if number is not None:
                parts.append(f"{word} {number + 1}" + (f"/{of}" if of else ""))
        return parts

    def expect(self, facts: Mapping[str, Any]) -> None:
        """Keras said how long the loop will be."""
        self.epochs = facts.get("epochs") or self.epochs
        steps = facts.get("steps")
        if not steps and facts.get("samples") and facts.get("batch_size"):
            steps = -(-facts["samples"] // facts["batch_size"])
        # Batches are told of every data set that is made meanwhile, that of the validation too: the first is ours.
        self.steps = steps or self.steps or facts.get("batches")


@dataclass
class Cores:
    """The last sample of cores and processes.

    Attributes:
        busy_pct: Per core; None before there are two samples.
        cpu_pct: Of the traced process tree, in percent of one core.
        rss_bytes: Resident memory of the traced process tree.
    """

    busy_pct: tuple[float, ...] | None = None
    cpu_pct: float | None = None
    rss_bytes: int | None = None
    peak_rss_bytes: int | None = None
    available_bytes: int | None = None


class PhaseClock:
    """The time in each phase so far, moved on by begin and end of spans on the main thread.

    Args:
        origin_ns: When the process was started.
    """

    def __init__(self, origin_ns: int) -> None:
        self.current = "startup"
        self.since_ns = origin_ns
        """When the current phase was entered."""
        self._outside = "startup"
        self._cursor = origin_ns
        self._totals: dict[str, int] = {}
        self._stack: list[Span] = []
        self._had_epoch = False
        self._steps_since: deque[tuple[int, int]] = deque(maxlen=_STRETCHES)
        """Stretches of fit.steps since the last step: the first call of a step function is a compilation."""

    def outside(self, phase: str, time_ns: int) -> None:
        """From `time_ns` on this is the phase while no span is open."""
        self._advance(time_ns)
        self._outside = phase
        self._choose(time_ns)

    def begin(self, span: Span, time_ns: int) -> None:
        """A span begins."""
        self._advance(time_ns)
        if not self._stack:
            self._had_epoch = False
        self._had_epoch = self._had_epoch or span.kind == SpanKind.EPOCH
        self._stack.append(span)
        self._choose(time_ns)

    def end(self, number: int, time_ns: int) -> None:
        """A span ends, and with it what is open inside it."""
        at = next((index for index, span in enumerate(self._stack) if span.number == number), None)
        if at is not None:
            self._advance(time_ns)
            del self._stack[at:]
            self._choose(time_ns)

    def step(self, step: Step, kind: str, loop: str) -> None:
        """A step is over, of a loop in a span of that kind: its parts belong to phases of their own."""
        self._advance(step.end_ns)
        around = self.current
        if kind == SpanKind.FIT and around == "fit.steps":
            if step.first and step.call_ns:
                begin = step.begin_ns + step.call_offset_ns
                self._move("fit.steps", "fit.graph_compile", self._of_steps(begin, begin + step.call_ns))
            self._move("fit.steps", "fit.input", step.input_ns)
            self._move("fit.steps", "fit.callbacks", step.callbacks_ns)
        elif kind == SpanKind.ON_BATCH and around == "script":
            self._move("script", PHASE_OF_LOOP[loop], step.end_ns - step.begin_ns)
        self._steps_since.clear()

    def totals(self, now_ns: int) -> dict[str, int]:
        """Time in each phase (ns), that since the last record counted for the current one."""
        found = dict(self._totals)
        found[self.current] = found.get(self.current, 0) + max(0, now_ns - self._cursor)
        return {phase: ns for phase, ns in found.items() if ns > 0}

    def open(self) -> Sequence[Span]:
        """The open spans, outermost first."""
        return self._stack

    def _of_steps(self, begin: int, end: int) -> int:
        """Time between two moments that went to fit.steps."""
        return sum(max(0, min(end, to) - max(begin, start)) for start, to in self._steps_since)

    def _move(self, source: str, target: str, ns: int) -> None:
        ns = max(0, min(ns, self._totals.get(source, 0)))
        self._totals[source] = self._totals.get(source, 0) - ns
        self._totals[target] = self._totals.get(target, 0) + ns

    def _advance(self, to_ns: int) -> None:
        if to_ns <= self._cursor:
            return
        if self.current == "fit.steps":
            self._steps_since.append((self._cursor, to_ns))
        self._totals[self.current] = self._totals.get(self.current, 0) + to_ns - self._cursor
        self._cursor = to_ns

    def _choose(self, time_ns: int) -> None:
        kinds = [span.kind for span in self._stack]
        phase = phases.leaf(kinds, self._had_epoch) if kinds else self._outside
        if phase != self.current:
            self.current, self.since_ns = phase, time_ns


class State:
    """All that a view of a running script shows.

    Args:
        label: Name of the script.
        backend: Where it runs; empty: Keras will say, if there is one.
        origin_ns: When the process was started.

    Attributes:
        loop: The loop whose step ended last; None before the first step.
        metrics: The last value of each metric that Keras gave.
        gpus: Last values of each GPU by column, by number.
        probes: State and reason of each probe.
        interrupted: Whether Ctrl-C came, and the script goes on.
        streaming: Whether the in-process probe has said anything: else phases are not known.
    """

    def __init__(self, label: str, backend: str, origin_ns: int) -> None:
        self.label = label
        self.backend = backend
        self.origin_ns = origin_ns
        self.pid: int | None = None
        self.phases = PhaseClock(origin_ns)
        self.loop: Loop | None = None
        self.metrics: dict[str, Metric] = {}
        self.cores = Cores()
        self.gpus: dict[int, dict[str, float | None]] = {}
        self.gpu_names: list[str | None] = []
        self.probes: dict[str, tuple[str, str | None]] = {}
        self.streaming = False
        self.interrupted = False
        self._main_thread: int | None = None
        self._script = 0
        self._loops = {name: Loop(name) for name in dict.fromkeys(LOOP_NAMES.values())}
        self._open: dict[int, Span] = {}
        self._on_batch: dict[int, Span] = {}
        self._page_bytes, self._ticks_per_s = 4096, 100
        self._before: tuple[int, list[list[int]], dict[int, int]] | None = None

    @property
    def title(self) -> str:
        """The script, and what it runs on, where that is known."""
        return f"{self.label} on {self.backend}" if self.backend else self.label

    # -- the stream of the in-process probe ------------------------------------------------------------

    def meta(self, facts: Mapping[str, Any]) -> None:
        """Facts about the process."""
        self._main_thread = facts.get("main_thread", self._main_thread)
        if "boot_ns" in facts:
            self.streaming = True
            self.phases.outside("dlprof", facts["boot_ns"])
            for probe, told in _WITH_THE_STREAM.items():
                if self.probes.get(probe, _STARTING) == _STARTING:
                    self.probes[probe] = (told, None)
        if "keras_backend" in facts and not self.backend:
            self.backend = str(facts["keras_backend"])

    def begin(self, span: Span, time_ns: int) -> None:
        """A span begins."""
        if span.kind == SpanKind.SCRIPT:
            self._script = span.number
            self.phases.outside("script", time_ns)
        if span.kind == SpanKind.ON_BATCH:
            self._on_batch[span.number] = span
        if span.kind == SpanKind.DLPROF and "kernel" in span.name:
            self.probes["kernels"] = ("on", None)
        if span.kind in _COVERS_NO_TIME:
            return
        self._open[span.number] = span
        if span.kind in _LOOPS:
            loop = self._loop_of(span)
            loop.epoch = loop.step = loop.steps = None
            if span.kind == SpanKind.FIT:  # maybe another model: its steps are not to be held against those before
                loop.epochs = None
                loop.seen = 0
                loop.recent_ns.clear()
        if span.thread == self._main_thread:
            self.phases.begin(span, time_ns)

    def end(self, number: int, time_ns: int) -> None:
        """A span ends."""
        self._open.pop(number, None)
        self.phases.end(number, time_ns)
        if number == self._script:
            self.phases.outside("teardown", time_ns)

    def detail(self, number: int, facts: Mapping[str, Any]) -> None:
        """Facts about a span."""
        span = self._open.get(number)
        if span is not None and span.kind in _LOOPS:
            self._loop_of(span).expect(facts)

    def step(self, step: Step) -> None:
        """A step is over."""
        span = self._open.get(step.loop) or self._on_batch.get(step.loop)
        if span is None:
            return
        self.loop = self._loop_of(span)
        self.loop.add(step)
        if step.thread == self._main_thread:
            self.phases.step(step, span.kind, self.loop.name)

    def metric(self, name: str, value: float, epoch: int, step: int) -> None:
        """Keras computed a metric."""
        if name in self.metrics or len(self.metrics) < _NAMES_AT_MOST:
            told = (None if where == NONE else where for where in (epoch, step))
            self.metrics[name] = Metric(value, *told)

    def probe(self, name: str, state: str, reason: str | None) -> None:
        """A probe said how it is."""
        self.probes[name] = (state, reason)

    def _loop_of(self, span: Span) -> Loop:
        return self._loops[LOOP_NAMES.get(span.name, {"fit": "train", "evaluate": "test"}.get(span.kind, "predict"))]

    def doing(self) -> str:
        """What is being done: the phase, or what is imported or compiled in it."""
        spans = self.phases.open()
        if spans and spans[-1].kind in (SpanKind.IMPORT, SpanKind.GRAPH_COMPILE):
            return f"{spans[-1].kind.replace('_', ' ')} {spans[-1].name}"
        return self.phases.current

    def in_loop(self) -> bool:
        """Whether fit, evaluate or predict goes on."""
        return any(span.kind in _LOOPS for span in self.phases.open())

    # -- the samplers ----------------------------------------------------------------------------------

    def cores_header(self, header: Mapping[str, Any]) -> None:
        """The first line of the samples of cores."""
        self._page_bytes, self._ticks_per_s = header["page_bytes"], header["ticks_per_s"]

    def cores_sample(self, time_ns: int, per_core: list[list[int]], processes: list[list[int]]) -> None:
        """Counters of every core, and of every process of the tree (`dlprof_probes.sidecar.cores`)."""
        ticks = {row[0]: row[1] for row in processes}
        # An empty tree is one that has just ended.
        rss_bytes = sum(row[2] for row in processes) * self._page_bytes if processes else self.cores.rss_bytes
        busy, cpu = self.cores.busy_pct, self.cores.cpu_pct
        if self._before is not None and time_ns > self._before[0]:
            before_ns, cores_before, ticks_before = self._before
            if any(sum(old) == sum(new) for old, new in zip(cores_before, per_core, strict=False)):
                return  # the kernel counts in ticks, and has not counted since: that is no 0 %
            busy = tuple(_busy_pct(old, new) for old, new in zip(cores_before, per_core, strict=False))
            used = sum(now - ticks_before.get(pid, now) for pid, now in ticks.items())
            cpu = None if not ticks else 100 * used / self._ticks_per_s / ((time_ns - before_ns) / 1e9)
        self._before = (time_ns, per_core, ticks)
        peak = max(rss_bytes or 0, self.cores.peak_rss_bytes or 0) or None
        self.cores = Cores(busy, cpu, rss_bytes, peak, self.cores.available_bytes)

    def machine_sample(self, available_bytes: int) -> None:
        """Memory of the machine."""
        self.cores.available_bytes = available_bytes

    def gpu_sample(self, gpu: int, values: Mapping[str, float | None]) -> None:
        """Values of a GPU; what is read less often, or not told, keeps its last value."""
        known = self.gpus.setdefault(gpu, {})
        known.update({name: value for name, value in values.items() if value is not None})


def _busy_pct(before: list[int], after: list[int]) -> float:
    """Share of a core's time that was neither idle nor waiting for a disk."""
    user, system, _iowait, steal, _idle = delta = [b - a for a, b in zip(before, after, strict=True)]
    return 100 * (user + system + steal) / sum(delta)
