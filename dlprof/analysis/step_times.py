"""What a step takes, plain and under the tracer of a kernel window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Integers = npt.NDArray[np.int64]


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
        run: Tables `steps`, `epochs`, `phase_intervals` and `kernel_windows`.
        number: A window of the run.
        asynchronous: The step function returns before the device has finished: then whole epochs count, not
            single steps.
    """
    steps, windows = run["steps"], run["kernel_windows"]
    window = next(row for row in windows.to_pylist() if row["window"] == number)
    if asynchronous and window["loop"] == "train" and run["epochs"].num_rows:
        return _of_epochs(run, window)
    loop = _of_loop(steps, window["loop"])
    inside = in_windows(loop, windows)
    own = in_windows(loop, windows.filter(pc.equal(windows["window"], number)))
    total = (_numbers(loop, "dur_ns") + _numbers(loop, "input_ns")) / np.maximum(1, _numbers(loop, "count"))
    steady = ~np.asarray(loop["compiled"].to_numpy(zero_copy_only=False), bool)
    plain, traced = total[steady & ~inside], total[own]
    taken = int(np.median(traced)) if len(traced) else window["dur_ns"] // max(1, window["steps"])
    return StepTimes(int(np.median(plain)) if len(plain) else None, taken, len(plain), "median")


def in_windows(steps: pa.Table, windows: pa.Table) -> npt.NDArray[np.bool_]:
    """Whether each step began inside a kernel window."""
    start = _numbers(steps, "start_ns")
    found = np.zeros(len(start), bool)
    for row in windows.to_pylist():
        if row["loop"] is not None:
            found |= (start >= row["start_ns"]) & (start < row["start_ns"] + row["dur_ns"])
    return found


def _of_loop(steps: pa.Table, loop: str | None) -> pa.Table:
    return steps.filter(pc.equal(steps["loop"].cast(pa.string()), loop or ""))


def _numbers(table: pa.Table, column: str) -> Integers:
    return np.asarray(pc.fill_null(table[column], 0).to_numpy(zero_copy_only=False), np.int64)


_PHASES = ("fit.steps", "fit.input", "fit.callbacks")


def _of_epochs(run: Mapping[str, pa.Table], window: Mapping[str, Any]) -> StepTimes:
    """Means over epochs that have neither a first step nor a window: what was dispatched before would count in."""
    taken = window["dur_ns"] // max(1, window["steps"])
    loop = _of_loop(run["steps"], "train")
    odd = np.asarray(loop["compiled"].to_numpy(zero_copy_only=False), bool) | in_windows(loop, run["kernel_windows"])
    start, count = _numbers(loop, "start_ns"), _numbers(loop, "count")
    found = []
    for row in run["epochs"].to_pylist():
        span = row["start_ns"], row["start_ns"] + row["dur_ns"]
        inside = (start >= span[0]) & (start < span[1])
        time = _time_in(run["phase_intervals"], span, run["kernel_windows"])
        found.append((time, int(count[inside & ~odd].sum()), bool((inside & odd).any())))
    clean = [row for row in found if not row[2]]
    time, steps = sum(row[0] for row in clean), sum(row[1] for row in clean)
    return StepTimes(time // steps if steps > 0 and time > 0 else None, taken, steps, "mean")


def _time_in(intervals: pa.Table, span: tuple[int, int], windows: pa.Table) -> int:
    """Time of steps in an epoch without kernel windows, compilation and validation (ns)."""
    total = 0
    without = [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in windows.to_pylist() if row["loop"]]
    for row in intervals.to_pylist():
        if row["phase"] in _PHASES:
            low, high = max(span[0], row["start_ns"]), min(span[1], row["start_ns"] + row["dur_ns"])
            if high > low:
                total += high - low - sum(max(0, min(high, e) - max(low, s)) for s, e in without)
    return total
