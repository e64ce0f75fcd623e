"""What a step's wall time consists of, from a kernel window, scaled to a plain step.

Each moment of the traced steps belongs to one part, the first that fits:

    kernels      at least one kernel or operator of the model runs
    transfer     a copy between host and device runs
    input        the next batch is waited for, or made by the engine's own threads
    sync         the host waits for the device or the engine, which runs nothing
    idle         the calling thread waits, and no thread of the engine does anything
    dispatch     the rest of the step function's call: the framework gets work ready
    host python  Python functions that the engine calls; and the rest of the step: Keras' own loop, the user's code

Of steps of equal work (`equal_steps`) the one in the middle counts, part by part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dlprof.analysis import equal_steps, loops, pace, step_times
from dlprof.analysis.columns import Floats, Integers, Truths, integers, steps_of
from dlprof.analysis.equal_steps import TracedSteps
from dlprof.analysis.kernel_window import Cover, Spans, Window, covers_of_events, main_window
from dlprof.analysis.shares import proportional
from dlprof.analysis.steps import of_own_loop
from dlprof.engines import registry
from dlprof.schema.vocabulary import Loop, StepPart
from dlprof.store.run import Run


@dataclass(frozen=True)
class Agreement:
    """How far the traced steps agree on what a step consists of, as shares of a typical step.

    Attributes:
        bounds: Between which shares each part lies.
        more: By how much the steps of the window were longer than typical ones, in each part.
        mean: A typical step, the mean over all kinds of them, over the one in the middle.
    """

    bounds: Mapping[StepPart, tuple[float, float]]
    more: Mapping[StepPart, float]
    mean: float


@dataclass(frozen=True)
class StepSplit:
    """The parts of a step.

    Attributes:
        loop: `train`, `test` or `predict`.
        engine: Whose tracer was used.
        steps: Traced steps.
        window_step_ns: Time of a traced step (ns); the parts in `window_ns` sum to it.
        plain_step_ns: Time of a plain step (ns); those in `plain_ns` sum to it. None: there was none.
        slowdown: Traced over plain.
        window_ns: Part to time in a traced step (ns). `dispatch` is None where no call of a step function was
            seen, as in scripts without Keras: it is in `host python` then.
        plain_ns: The same, scaled to a plain step (ns).
        window: Number of the window.
        agreement: How far the traced steps agree; None: they are too few to tell, or not done when they end.
    """

    loop: Loop
    engine: str
    steps: int
    window_step_ns: int
    plain_step_ns: int | None
    slowdown: float | None
    window_ns: Mapping[StepPart, int | None]
    plain_ns: Mapping[StepPart, int | None] | None
    window: int
    agreement: Agreement | None = None

    def window_time(self, part: StepPart) -> int:
        """Time of a part in a traced step (ns); 0 where it was not seen."""
        return self.window_ns[part] or 0


def of_run(run: Run) -> StepSplit | None:
    """The split of a run's main loop (training where there was some); None: no kernel window was traced."""
    window = main_window(run)
    if window is None:
        return None
    asynchronous = run.manifest.backend.asynchronous_dispatch
    steps = _steps(run, window)
    if not steps.num_rows:
        return None
    total, agreement = _measure(run, window, steps, asynchronous=asynchronous)
    tables = pace.tables_of(run)
    plain_ns = step_times.compare(tables, window.number, asynchronous=asynchronous).plain_ns
    step_ns = sum(total.values()) // window.steps
    unseen = {StepPart.DISPATCH} if not asynchronous and steps["call_ns"].null_count == steps.num_rows else set()
    return StepSplit(
        loop=window.loop,
        engine=window.engine,
        steps=window.steps,
        window_step_ns=step_ns,
        plain_step_ns=plain_ns,
        slowdown=step_ns / plain_ns if plain_ns else None,
        window_ns=_without(unseen, _scaled(total, step_ns)),
        plain_ns=_without(unseen, _scaled(total, plain_ns)) if plain_ns else None,
        window=window.number,
        agreement=agreement,
    )


def between_steps(run: Run) -> float | None:
    """Share of the time between the traced steps in which kernels ran beside the host; None: no such time was traced.

    An engine that works on when a step has returned runs them then, whatever the script does meanwhile.
    """
    window = main_window(run)
    if window is None:
        return None
    steps = _steps(run, window).sort_by("start_ns")
    start = integers(steps["start_ns"])
    end = start + integers(steps["dur_ns"])
    gaps = Spans(end[:-1], np.maximum(start[1:], end[:-1]))
    kernels = covers_of_events(run, window)[Cover.KERNELS]
    time, on, _ = _coverage({Cover.STEP: gaps, Cover.KERNELS: kernels})
    whole = int(time[on[Cover.STEP]].sum())
    return float(time[on[Cover.STEP] & on[Cover.KERNELS]].sum()) / whole if whole else None


def _steps(run: Run, window: Window) -> pa.Table:
    """Steps of the window's loop that began in it."""
    return steps_of(window.steps_in(run), window.loop)


def _without(unseen: Collection[StepPart], parts: Mapping[StepPart, int]) -> dict[StepPart, int | None]:
    return {part: None if part in unseen else ns for part, ns in parts.items()}


def _measure(
    run: Run, window: Window, steps: pa.Table, *, asynchronous: bool
) -> tuple[dict[StepPart, int], Agreement | None]:
    """Time in each part over all steps of the window (ns), and how far these agree."""
    start = integers(steps["start_ns"])
    begin, end = np.maximum(start - integers(steps["input_ns"]), window.begin_ns), start + integers(steps["dur_ns"])
    called = start + integers(steps["call_offset_ns"])
    # Between the steps of a loop of its own, the time is the script's.
    goes_on = asynchronous and not of_own_loop(run, steps).num_rows
    covers = covers_of_events(run, window)
    covers[Cover.STEP] = window.span if goes_on else Spans(begin, end)
    covers[Cover.CALL] = Spans(called, called + integers(steps["call_ns"]))
    asked_before = run.manifest.backend.input_inside_step and not loops.fetches_inside_steps(run)
    waits = Spans(begin, start)
    covers[Cover.INPUT] = waits if asked_before else covers[Cover.INPUT].joined(waits)
    time, on, begins = _coverage(covers)
    spec = registry.find(window.engine)
    waits_are_idle = spec is not None and spec.waits_are_idle
    rules = _rules(on, waits_are_idle=waits_are_idle, asynchronous=asynchronous)
    part = _shared_out(on[Cover.STEP], rules)
    whole: Floats = np.bincount(part + 1, weights=time, minlength=len(StepPart) + 1)[1:].astype(np.float64)
    equal = equal_steps.of_window(run, window)
    if equal is None:
        return _by_part(whole), None
    inside = part >= 0
    each = equal.sums(begins[inside], part[inside], time[inside], len(StepPart))
    stretched = equal.stretched(equal_steps.by_operator(run, window, equal))
    return _by_part(equal.typical(each)), _agreement(equal, each, stretched)


def _agreement(steps: TracedSteps, each: Floats, stretched: float) -> Agreement:
    """How far steps agree.

    Args:
        steps: The steps.
        each: Times by step and part, shape (steps, parts) (ns).
        stretched: By how much operators as a whole took longer than in typical steps.
    """
    typical = steps.typical(each)
    whole, middle = max(1.0, float(typical.sum())), max(1.0, float(np.median(each.sum(axis=1))))
    more = np.maximum(0, each.sum(axis=0) - typical) / whole
    kernels = list(StepPart).index(StepPart.KERNELS)
    more[kernels] = min(more[kernels], max(0.0, stretched - 1) * typical[kernels] / whole)
    low, high = steps.bounds(each)
    parts = list(StepPart)
    return Agreement(
        dict(zip(parts, zip(low.tolist(), high.tolist(), strict=True), strict=True)),
        dict(zip(parts, more.tolist(), strict=True)),
        whole / len(steps) / middle,
    )


def _by_part(times: Floats) -> dict[StepPart, int]:
    return {part: int(ns) for part, ns in zip(StepPart, times, strict=True)}


def _coverage(covers: Mapping[Cover, Spans]) -> tuple[Integers, dict[Cover, Truths], Integers]:
    """Lengths of the stretches between all begins and ends (ns), what covers each, and when each begins (ns)."""
    times = np.unique(np.concatenate([edge for spans in covers.values() for edge in (spans.begin, spans.end)]))
    on = {}
    for cover, spans in covers.items():
        level = np.zeros(len(times), np.int64)
        np.add.at(level, np.searchsorted(times, spans.begin), 1)
        np.add.at(level, np.searchsorted(times, spans.end), -1)
        on[cover] = np.cumsum(level)[:-1] > 0
    return np.diff(times), on, times[:-1]


def _rules(on: Mapping[Cover, Truths], *, waits_are_idle: bool, asynchronous: bool) -> dict[StepPart, Truths]:
    """Which stretches may belong to each part."""
    quiet = on[Cover.WAIT] & ~on[Cover.RUNTIME]
    in_call = on[Cover.CALL] | on[Cover.RUNTIME] if asynchronous else on[Cover.CALL]
    never = np.zeros_like(quiet)
    return {
        StepPart.KERNELS: on[Cover.KERNELS],
        StepPart.TRANSFER: on[Cover.TRANSFER],
        StepPart.INPUT: on[Cover.INPUT],
        StepPart.SYNC: never if waits_are_idle else quiet,
        StepPart.IDLE: quiet & ~on[Cover.PYTHON] if waits_are_idle else never,
        StepPart.DISPATCH: in_call & ~on[Cover.PYTHON],
        StepPart.HOST_PYTHON: ~never,
    }


def _shared_out(in_step: Truths, rules: Mapping[StepPart, Truths]) -> Integers:
    """The number of the part of each stretch, in whose order they are claimed; -1: it is in no step."""
    part = np.full(len(in_step), -1)
    for number, name in reversed(list(enumerate(StepPart))):
        part[in_step & rules[name]] = number
    return part


def _scaled(total: Mapping[StepPart, int], step_ns: int) -> dict[StepPart, int]:
    """Parts of a step of `step_ns`, in whole nanoseconds that sum to it."""
    return proportional(step_ns, total) or {**total, StepPart.HOST_PYTHON: step_ns}
