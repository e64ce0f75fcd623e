"""What a step takes, plain and under the tracer of a kernel window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Truths, in_windows, integers, steps_of, truths
from dlprof.schema.vocabulary import Loop, Phase

TABLES = ("steps", "epochs", "phase_intervals", "kernel_windows")
"""The tables that `compare` looks at."""
_PHASES = (Phase.FIT_STEPS, Phase.FIT_INPUT, Phase.FIT_CALLBACKS)
"""What an epoch consists of while it trains."""


@dataclass(frozen=True)
class StepTimes:
    """Times of one step around a kernel window (ns).

    Attributes:
        plain_ns: Of a plain step; None: there was none to compare with.
        window_ns: Of a step in the window.
        plain_steps: Number of plain steps behind `plain_ns`.
        how: How both were got: `median` of steps, or `mean` over epochs where dispatch is asynchronous.
    """

    plain_ns: int | None
    window_ns: int
    plain_steps: int
    how: str

    @property
    def slowdown(self) -> float | None:
        """Time in the window as a multiple of plain time."""
        return self.window_ns / self.plain_ns if self.plain_ns else None


def compare(run: Mapping[str, pa.Table], number: int, *, asynchronous: bool) -> StepTimes:
    """Times of steps inside and outside window `number`.

    Args:
        run: The tables of `TABLES`.
        number: A window of the run.
        asynchronous: The step function returns before the device has finished: then whole epochs count, not
            single steps.
    """
    windows = run["kernel_windows"]
    window = next(row for row in windows.to_pylist() if row["window"] == number)
    if asynchronous and window["loop"] == Loop.TRAIN and run["epochs"].num_rows:
        return _by_epochs(run, window)
    steps = steps_of(run["steps"], window["loop"])
    own = in_windows(steps, windows.filter(pc.equal(windows["window"], number)))
    total = (integers(steps["dur_ns"]) + integers(steps["input_ns"])) / np.maximum(1, integers(steps["count"]))
    plain, traced = total[~_is_odd(steps, windows)], total[own]
    taken = int(np.median(traced)) if len(traced) else _mean_in(window)
    return StepTimes(int(np.median(plain)) if len(plain) else None, taken, len(plain), "median")


def _is_odd(steps: pa.Table, windows: pa.Table) -> Truths:
    """Whether each step is no plain one: something was compiled in it, or it was traced."""
    return truths(steps["compiled"]) | in_windows(steps, windows)


def _mean_in(window: Mapping[str, Any]) -> int:
    """Time of a step by the length of the window (ns)."""
    return int(window["dur_ns"] // max(1, window["steps"]))


class _Epoch(NamedTuple):
    time_ns: int
    plain_steps: int
    is_plain: bool
    """Whether all of its steps are plain: what was dispatched before would count in."""


def _by_epochs(run: Mapping[str, pa.Table], window: Mapping[str, Any]) -> StepTimes:
    """Means over epochs that have neither a first step nor a window."""
    steps = steps_of(run["steps"], Loop.TRAIN)
    odd = _is_odd(steps, run["kernel_windows"])
    start, count = integers(steps["start_ns"]), integers(steps["count"])
    epochs = []
    for row in run["epochs"].to_pylist():
        begin, end = row["start_ns"], row["start_ns"] + row["dur_ns"]
        inside = (start >= begin) & (start < end)
        time = _time_in(run["phase_intervals"], begin, end, run["kernel_windows"])
        epochs.append(_Epoch(time, int(count[inside & ~odd].sum()), not (inside & odd).any()))
    plain = [epoch for epoch in epochs if epoch.is_plain]
    time, number = sum(epoch.time_ns for epoch in plain), sum(epoch.plain_steps for epoch in plain)
    return StepTimes(time // number if number > 0 and time > 0 else None, _mean_in(window), number, "mean")


def _time_in(intervals: pa.Table, begin: int, end: int, windows: pa.Table) -> int:
    """Time of steps in an epoch without kernel windows, compilation and validation (ns)."""
    total = 0
    without = [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in windows.to_pylist() if row["loop"]]
    for row in intervals.to_pylist():
        if row["phase"] in _PHASES:
            low, high = max(begin, row["start_ns"]), min(end, row["start_ns"] + row["dur_ns"])
            if high > low:
                total += high - low - sum(max(0, min(high, e) - max(low, s)) for s, e in without)
    return total
