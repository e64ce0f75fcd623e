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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import step_times
from dlprof.analysis.steps import of_own_loop
from dlprof.store.run import Run

PARTS = ("kernels", "transfer", "input", "sync", "idle", "dispatch", "host python")
Integers = npt.NDArray[np.int64]
Spans = tuple[Integers, Integers]
"""Begins and ends (ns)."""
_LOOPS = ("train", "predict", "test")
INPUT_LAYER = "input"
"""What attribution calls the work of input pipelines."""
PYTHON_OPS = ("EagerPyFunc", "PyFunc", "PyFuncStateless", "Custom", "_backward_Custom", "pure_callback", "io_callback")
"""Operators that call a function of Python: what runs in it is no kernel."""


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

    loop: str
    engine: str
    steps: int
    window_step_ns: int
    plain_step_ns: int | None
    slowdown: float | None
    window_ns: Mapping[str, int | None]
    plain_ns: Mapping[str, int | None] | None
    window: int


def of_run(run: Run) -> StepSplit | None:
    """The split of a run's main loop (training where there was some); None: no kernel window was traced."""
    window = _main_window(run)
    if window is None:
        return None
    asynchronous = run.manifest.backend.asynchronous_dispatch
    steps = _steps_of(run.table("steps"), window)
    if not steps.num_rows:
        return None
    total = _measure(run, window, steps, asynchronous=asynchronous)
    tables = {name: run.table(name) for name in ("steps", "epochs", "phase_intervals", "kernel_windows")}
    times = step_times.compare(tables, window["window"], asynchronous=asynchronous)
    count = window["steps"]
    step_ns = sum(total.values()) // count
    unseen = ("dispatch",) if not asynchronous and steps["call_ns"].null_count == steps.num_rows else ()
    return StepSplit(
        window["loop"], window["engine"], count, step_ns, times.plain_ns,
        step_ns / times.plain_ns if times.plain_ns else None,
        _without(unseen, _scaled(total, step_ns)),
        _without(unseen, _scaled(total, times.plain_ns)) if times.plain_ns else None, window["window"],
    )  # fmt: skip


def between_steps(run: Run) -> float | None:
    """Share of the time between the traced steps in which kernels ran beside the host; None: no such time was traced.

    An engine that works on when a step has returned runs them then, whatever the script does meanwhile.
    """
    window = _main_window(run)
    if window is None:
        return None
    steps = _steps_of(run.table("steps"), window).sort_by("start_ns")
    start, dur = (_numbers(steps, name) for name in ("start_ns", "dur_ns"))
    gaps = (start + dur)[:-1], np.maximum(start[1:], (start + dur)[:-1])
    time, on = _coverage({"gap": gaps, "kernels": _of_events(run, window)["kernels"]})
    whole = int(time[on["gap"]].sum())
    return float(time[on["gap"] & on["kernels"]].sum()) / whole if whole else None


def _main_window(run: Run) -> dict[str, Any] | None:
    windows = [row for row in run.rows("kernel_windows") if row["loop"] is not None and row["steps"]]
    windows.sort(key=lambda row: (_LOOPS.index(row["loop"]), row["window"]))
    return windows[0] if windows else None


def _without(unseen: Sequence[str], parts: Mapping[str, int]) -> dict[str, int | None]:
    return {name: None if name in unseen else value for name, value in parts.items()}


def _steps_of(steps: pa.Table, window: Mapping[str, Any]) -> pa.Table:
    start = steps["start_ns"]
    inside = pc.and_(pc.greater_equal(start, window["start_ns"]), pc.less(start, window["start_ns"] + window["dur_ns"]))
    return steps.filter(pc.and_(inside, pc.equal(steps["loop"].cast(pa.string()), window["loop"])))


def _measure(run: Run, window: Mapping[str, Any], steps: pa.Table, *, asynchronous: bool) -> dict[str, int]:
    """Time in each part over all steps of the window (ns)."""
    waited, start, dur = (_numbers(steps, name) for name in ("input_ns", "start_ns", "dur_ns"))
    begin, end = np.maximum(start - waited, window["start_ns"]), start + dur
    whole = (np.asarray([window["start_ns"]]), np.asarray([window["start_ns"] + window["dur_ns"]]))
    called = start + _numbers(steps, "call_offset_ns")
    call = (called, called + _numbers(steps, "call_ns"))
    # Between the steps of a loop of its own, the time is the script's.
    goes_on = asynchronous and not of_own_loop(run, steps).num_rows
    covers = {"step": whole if goes_on else (begin, end), "call": call, **_of_events(run, window)}
    covers["input"] = tuple(np.concatenate(pair) for pair in zip(covers["input"], (begin, start), strict=True))
    time, on = _coverage(covers)
    return _parts(time, on, waits_are_idle=window["engine"] == "tensorflow", asynchronous=asynchronous)


def _numbers(table: pa.Table, column: str) -> Integers:
    return np.asarray(pc.fill_null(table[column], 0).to_numpy(zero_copy_only=False), np.int64)


def _of_events(run: Run, window: Mapping[str, Any]) -> dict[str, Any]:
    events = run.table("kernel_events")
    events = events.filter(pc.equal(events["window"], window["window"]))
    kinds = {row["op_id"]: _kind(row) for row in run.rows("kernel_ops")}
    names = ("operator", "kernel", "transfer", "wait", "runtime", "input", "python")
    code = np.full(max(kinds, default=-1) + 1, -1)
    for number, part in kinds.items():
        code[number] = names.index(part) if part in names else -1
    kind = code[_numbers(events, "op_id")] if events.num_rows else np.empty(0, np.int64)
    start, dur, nested = (_numbers(events, name) for name in ("start_ns", "dur_ns", "nested_ns"))
    # An operator that is mostly other operators is their dispatch, not work of its own.
    works = (kind == 1) | ((kind == 0) & (2 * nested <= dur))
    chosen = {"kernels": works, **{name: kind == names.index(name) for name in names[2:]}}
    return {name: (start[rows], (start + dur)[rows]) for name, rows in chosen.items()}


def _kind(op: Mapping[str, Any]) -> str:
    """The part that an operator's time belongs to."""
    if op["kind"] != "operator":
        return str(op["kind"])
    if op["layer"] == INPUT_LAYER:
        return "input"
    return "python" if op["op"] in PYTHON_OPS else "operator"


def _coverage(covers: Mapping[str, Spans]) -> tuple[Integers, dict[str, npt.NDArray[np.bool_]]]:
    """Lengths of the stretches between all begins and ends (ns), and what covers each."""
    times = np.unique(np.concatenate([edge for spans in covers.values() for edge in spans]))
    on = {}
    for name, (begins, ends) in covers.items():
        level = np.zeros(len(times), np.int64)
        np.add.at(level, np.searchsorted(times, begins), 1)
        np.add.at(level, np.searchsorted(times, ends), -1)
        on[name] = np.cumsum(level)[:-1] > 0
    return np.diff(times), on


def _parts(
    time: Integers, on: Mapping[str, npt.NDArray[np.bool_]], *, waits_are_idle: bool, asynchronous: bool
) -> dict[str, int]:
    left = on["step"].copy()
    quiet = on["wait"] & ~on["runtime"]
    rules: dict[str, npt.NDArray[np.bool_]] = {
        "kernels": on["kernels"],
        "transfer": on["transfer"],
        "input": on["input"],
        "sync": quiet & (not waits_are_idle),
        "idle": quiet & waits_are_idle & ~on["python"],
        "dispatch": ~on["python"] & (on["call"] | (on["runtime"] if asynchronous else np.zeros(len(time), bool))),
        "host python": np.ones(len(time), bool),
    }
    found = {}
    for name in PARTS:
        rows = left & rules[name]
        found[name] = int(time[rows].sum())
        left &= ~rows
    return found


def _scaled(total: Mapping[str, int], step_ns: int) -> dict[str, int]:
    """Parts of a step of `step_ns`, in whole nanoseconds that sum to it."""
    whole = sum(total.values()) or 1
    parts = {name: value * step_ns // whole for name, value in total.items()}
    largest = max(parts, key=lambda name: parts[name])
    parts[largest] += step_ns - sum(parts.values())
    return parts
