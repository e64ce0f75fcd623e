"""What a step takes, plain and under the tracer of a kernel window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import pace
from dlprof.analysis.columns import Truths, in_windows, integers, steps_of, truths, under_tracer
from dlprof.schema.vocabulary import Loop

TABLES = pace.TABLES
"""The tables that `compare` looks at."""


@dataclass(frozen=True)
class StepTimes:
    """Times of one step around a kernel window (ns).

    Attributes:
        plain_ns: Of a plain step; None: there was none to compare with.
        window_ns: Of a step in the window.
        plain_steps: Number of plain steps behind `plain_ns`.
        how: How both were got: `median` of steps, or `mean` of those waited for where dispatch is asynchronous.
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
        asynchronous: The step function returns before the device has finished: then what was waited for
            counts, not single steps.
    """
    windows = run["kernel_windows"]
    window = next(row for row in windows.to_pylist() if row["window"] == number)
    if asynchronous and window["loop"] == Loop.TRAIN and run["epochs"].num_rows:
        plain = pace.of_training(run)
        known = (plain.step_ns, plain.steps) if plain is not None else (None, 0)
        return StepTimes(known[0], _mean_in(window), known[1], "mean")
    steps = steps_of(run["steps"], window["loop"])
    own = in_windows(steps, windows.filter(pc.equal(windows["window"], number)))
    total = (integers(steps["dur_ns"]) + integers(steps["input_ns"])) / np.maximum(1, integers(steps["count"]))
    plain_ns, traced = total[~_is_odd(steps, windows)], total[own]
    taken = int(np.median(traced)) if len(traced) else _mean_in(window)
    return StepTimes(int(np.median(plain_ns)) if len(plain_ns) else None, taken, len(plain_ns), "median")


def _is_odd(steps: pa.Table, windows: pa.Table) -> Truths:
    """Whether each step is no plain one: something was compiled in it, or it was traced."""
    return truths(steps["compiled"]) | under_tracer(steps, windows)


def _mean_in(window: Mapping[str, Any]) -> int:
    """Time of a step by the length of the window (ns)."""
    return int(window["dur_ns"] // max(1, window["steps"]))
