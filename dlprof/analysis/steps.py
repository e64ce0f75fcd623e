"""Steps of the loops: first, median, 95th percentile, throughput."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.step_times import in_windows
from dlprof.store.run import Run

LOOPS = ("train", "test", "predict")
_OWN_STEPS = 3
"""Fewer calls of a step by the script itself are no loop."""


@dataclass(frozen=True)
class StepSummary:
    """Steps of one kind of loop. A step lasts from the end of the batch before it to its own end.

    Attributes:
        loop: `train`, `test` or `predict`.
        count: Steps in all.
        first_ns: The first step, with what is compiled in it (ns).
        median_ns: Median over steady steps: those in which nothing was compiled or traced (ns); None: there are none.
        p95_ns: 95th percentile over steady steps (ns).
        samples_per_s: Samples per second over steady steps; None where Keras does not say how many.
        call_median_ns: Median of the step function's call (ns); None where it was not seen.
        input_median_ns: Median of the host's wait for the batch (ns); None where it was not seen.
        compiled: Steps in which a graph was compiled.
    """

    loop: str
    count: int
    first_ns: int
    median_ns: int | None
    p95_ns: int | None
    samples_per_s: float | None
    call_median_ns: int | None
    input_median_ns: int | None
    compiled: int


def summarise(steps: pa.Table, windows: pa.Table) -> list[StepSummary]:
    """Figures of each kind of loop that has steps, in the order of LOOPS.

    Args:
        steps: Table `steps`.
        windows: Table `kernel_windows`: steps in a window run under a tracer, so they are not steady ones.
    """
    traced = in_windows(steps, windows)
    names = steps["loop"].cast(pa.string())
    found = []
    for loop in LOOPS:
        rows = np.asarray(pc.equal(names, loop).to_numpy(zero_copy_only=False), bool)
        if rows.any():
            found.append(_summary(loop, steps.filter(pa.array(rows)), traced[rows]))
    return found


def of_own_loop(run: Run, steps: pa.Table) -> pa.Table:
    """Those of some steps that belong to the script's own loop over `train_on_batch`, in order of time."""
    calls = run.rows("spans")
    loops = [row["span_id"] for row in calls if row["kind"] == "on_batch" and row["name"] == "train_on_batch"]
    return steps.filter(pc.is_in(steps["loop_id"], pa.array(loops, steps["loop_id"].type))).sort_by("start_ns")


def own_loop(run: Run) -> tuple[int, int]:
    """The script's own loop over `train_on_batch`: time between its steps, and in them (ns); 0: it has none."""
    inside = of_own_loop(run, run.table("steps"))
    if inside.num_rows < _OWN_STEPS:
        return 0, 0
    start, dur = np.asarray(inside["start_ns"]), np.asarray(inside["dur_ns"])
    return int(np.maximum(0, start[1:] - (start + dur)[:-1]).sum()), int(dur.sum())


def _summary(loop: str, steps: pa.Table, traced: np.ndarray) -> StepSummary:
    count = _numbers(steps, "count")
    total = _numbers(steps, "dur_ns") + _numbers(steps, "input_ns")
    order = np.argsort(_numbers(steps, "start_ns"), kind="stable")
    steady = ~steps["compiled"].to_numpy(zero_copy_only=False)
    if (steady & ~traced).any():
        steady &= ~traced
    each = np.repeat(total[steady] / count[steady], count[steady].astype(int))
    samples = steps["samples"].filter(pa.array(steady))
    known = samples.null_count == 0 and steady.any()
    return StepSummary(
        loop=loop,
        count=int(count.sum()),
        first_ns=int(total[order[0]] / count[order[0]]),
        median_ns=int(np.median(each)) if len(each) else None,
        p95_ns=int(np.percentile(each, 95)) if len(each) else None,
        samples_per_s=float(pc.sum(samples).as_py() / (total[steady].sum() / 1e9)) if known else None,
        call_median_ns=_median(steps, "call_ns", steady),
        input_median_ns=_median(steps, "input_ns", steady),
        compiled=int(count[np.asarray(steps["compiled"].to_numpy(zero_copy_only=False), bool)].sum()),
    )


def _numbers(table: pa.Table, column: str) -> np.ndarray:
    return np.asarray(pc.fill_null(table[column], 0).to_numpy(zero_copy_only=False))


def _median(steps: pa.Table, column: str, steady: np.ndarray) -> int | None:
    values = steps[column].filter(pa.array(steady)).drop_null()
    return int(np.median(values.to_numpy())) if len(values) else None
