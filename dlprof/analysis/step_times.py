"""What a step takes, plain and under the tracer of a kernel window."""

from __future__ import annotations

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
        how: How both were got: `median` of steps, or `mean` over stretches where dispatch is asynchronous.
    """

    plain_ns: int | None
    window_ns: int
    plain_steps: int
    how: str

    @property
    def slowdown(self) -> float | None:
        """Time in the window as a multiple of plain time."""
        return self.window_ns / self.plain_ns if self.plain_ns else None


def compare(steps: pa.Table, epochs: pa.Table, windows: pa.Table, number: int, *, asynchronous: bool) -> StepTimes:
    """Times of steps inside and outside window `number`.

    Args:
        steps: Table `steps`.
        epochs: Table `epochs`.
        windows: Table `kernel_windows`.
        number: A window of the run.
        asynchronous: The step function returns before the device has finished: then only whole stretches count.
    """
    window = next(row for row in windows.to_pylist() if row["window"] == number)
    if asynchronous:
        return _of_stretches(steps, epochs, windows, window)
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


def _of_stretches(steps: pa.Table, epochs: pa.Table, windows: pa.Table, window: dict[str, Any]) -> StepTimes:
    """Means over epochs without their first steps and windows: single steps are only dispatched."""
    taken = window["dur_ns"] // max(1, window["steps"])
    loop = _of_loop(steps, window["loop"])
    traced = in_windows(loop, windows)
    odd = np.asarray(loop["compiled"].to_numpy(zero_copy_only=False), bool)
    stretches = [_stretch(row, loop, traced, odd, windows) for row in epochs.to_pylist()]
    clean = [s for s in stretches if s[2]] or stretches
    time, count = sum(s[0] for s in clean), sum(s[1] for s in clean)
    return StepTimes(time // count if count > 0 and time > 0 else None, taken, max(0, count), "mean")


def _stretch(
    epoch: dict[str, Any], steps: pa.Table, traced: npt.NDArray[np.bool_], odd: npt.NDArray[np.bool_], windows: pa.Table
) -> tuple[int, int, bool]:
    """Time and number of plain steps in an epoch, and whether there were no others in it."""
    low, high = epoch["start_ns"], epoch["start_ns"] + epoch["dur_ns"]
    start = _numbers(steps, "start_ns")
    inside = (start >= low) & (start < high)
    count = _numbers(steps, "count")
    total = _numbers(steps, "dur_ns") + _numbers(steps, "input_ns")
    time = epoch["dur_ns"] - int(total[inside & odd].sum())
    for row in windows.to_pylist():
        if row["loop"] is not None and low <= row["start_ns"] < high:
            time -= row["dur_ns"] + (row["start_cost_ns"] or 0) + (row["stop_cost_ns"] or 0)
    plain = inside & ~odd & ~traced
    return time, int(count[plain].sum()), not bool((inside & (odd | traced)).any())
