"""What a step's wall time consists of, from a kernel window, scaled to a plain step.

Each moment of the traced steps belongs to one part, the first that fits:

    kernels      at least one kernel or operator of the model runs
    transfer     a copy between host and device runs
    input        the next batch is waited for, or made by the engine's own threads
    sync         the host waits for the device or the engine, which runs nothing
    idle         the calling thread waits, and no thread of the engine does anything
    dispatch     the rest of the step function's call: the framework gets work ready
    host python  Python functions that the engine calls; and the rest of the step: Keras' own loop, the user's code
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dlprof.analysis import loops, pace, step_times
from dlprof.analysis.columns import Integers, Truths, integers, steps_of
from dlprof.analysis.kernel_window import Cover, Spans, Window, covers_of_events, main_window
from dlprof.analysis.shares import proportional
from dlprof.analysis.steps import of_own_loop
from dlprof.engines import registry
from dlprof.schema.vocabulary import Loop, StepPart
from dlprof.store.run import Run


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
    total = _measure(run, window, steps, asynchronous=asynchronous)
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
    time, on = _coverage({Cover.STEP: gaps, Cover.KERNELS: kernels})
    whole = int(time[on[Cover.STEP]].sum())
    return float(time[on[Cover.STEP] & on[Cover.KERNELS]].sum()) / whole if whole else None


def _steps(run: Run, window: Window) -> pa.Table:
    """Steps of the window's loop that began in it."""
    return steps_of(window.steps_in(run), window.loop)


def _without(unseen: Collection[StepPart], parts: Mapping[StepPart, int]) -> dict[StepPart, int | None]:
    return {part: None if part in unseen else ns for part, ns in parts.items()}


def _measure(run: Run, window: Window, steps: pa.Table, *, asynchronous: bool) -> dict[StepPart, int]:
    """Time in each part over all steps of the window (ns)."""
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
    time, on = _coverage(covers)
    spec = registry.find(window.engine)
    waits_are_idle = spec is not None and spec.waits_are_idle
    return _shared_out(time, on[Cover.STEP], _rules(on, waits_are_idle=waits_are_idle, asynchronous=asynchronous))


def _coverage(covers: Mapping[Cover, Spans]) -> tuple[Integers, dict[Cover, Truths]]:
    """Lengths of the stretches between all begins and ends (ns), and what covers each."""
    times = np.unique(np.concatenate([edge for spans in covers.values() for edge in (spans.begin, spans.end)]))
    on = {}
    for cover, spans in covers.items():
        level = np.zeros(len(times), np.int64)
        np.add.at(level, np.searchsorted(times, spans.begin), 1)
        np.add.at(level, np.searchsorted(times, spans.end), -1)
        on[cover] = np.cumsum(level)[:-1] > 0
    return np.diff(times), on


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


def _shared_out(time: Integers, in_step: Truths, rules: Mapping[StepPart, Truths]) -> dict[StepPart, int]:
    """Time of each part, in whose order a stretch is claimed (ns)."""
    left = in_step.copy()
    parts = {}
    for part in StepPart:
        rows = left & rules[part]
        parts[part] = int(time[rows].sum())
        left &= ~rows
    return parts


def _scaled(total: Mapping[StepPart, int], step_ns: int) -> dict[StepPart, int]:
    """Parts of a step of `step_ns`, in whole nanoseconds that sum to it."""
    return proportional(step_ns, total) or {**total, StepPart.HOST_PYTHON: step_ns}
