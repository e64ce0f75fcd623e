"""Steps of the loops: first, median, 95th percentile, throughput."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Truths, in_windows, integers, steps_of, total, truths
from dlprof.schema.vocabulary import Loop, SpanKind
from dlprof.store.run import Run

LOOPS = (Loop.TRAIN, Loop.TEST, Loop.PREDICT, Loop.UNKNOWN)
"""Loops that have steps of a model, the one that counts most first."""
_OWN_STEPS = 3
"""Fewer calls of a step by the script itself are no loop."""


@dataclass(frozen=True)
class StepSummary:
    """Steps of one kind of loop. A step lasts from the end of the batch before it to its own end.

    Attributes:
        loop: `train`, `test` or `predict`; `unknown` where a foreign trace does not tell it.
        count: Steps in all.
        first_ns: The first step, with what is compiled in it (ns).
        median_ns: Median over steady steps: those in which nothing was compiled or traced (ns); None: there are none.
        p95_ns: 95th percentile over steady steps (ns).
        samples_per_s: Samples per second over steady steps; None where Keras does not say how many.
        call_median_ns: Median of the step function's call (ns); None where it was not seen.
        input_median_ns: Median of the host's wait for the batch (ns); None where it was not seen.
        compiled: Steps in which a graph was compiled.
    """

    loop: Loop
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
    each = ((loop, steps_of(steps, loop)) for loop in LOOPS)
    return [_summary(loop, rows, in_windows(rows, windows)) for loop, rows in each if rows.num_rows]


def of_own_loop(run: Run, steps: pa.Table) -> pa.Table:
    """Those of some steps that belong to the script's own loop over `train_on_batch`, in order of time."""
    calls = (row for row in run.rows("spans") if row["kind"] == SpanKind.ON_BATCH)
    loops = [row["span_id"] for row in calls if row["name"] == "train_on_batch"]
    return steps.filter(pc.is_in(steps["loop_id"], pa.array(loops, steps["loop_id"].type))).sort_by("start_ns")


def own_loop(run: Run) -> tuple[int, int]:
    """The script's own loop over `train_on_batch`: time between its steps, and in them (ns); 0: it has none."""
    inside = of_own_loop(run, run.table("steps"))
    if inside.num_rows < _OWN_STEPS:
        return 0, 0
    start, dur = np.asarray(inside["start_ns"]), np.asarray(inside["dur_ns"])
    return int(np.maximum(0, start[1:] - (start + dur)[:-1]).sum()), int(dur.sum())


def _summary(loop: Loop, steps: pa.Table, traced: Truths) -> StepSummary:
    count, start = integers(steps["count"]), integers(steps["start_ns"])
    taken = integers(steps["dur_ns"]) + integers(steps["input_ns"])
    compiled = truths(steps["compiled"])
    first = int(np.argsort(start, kind="stable")[0])
    steady = ~compiled & ~traced if (~compiled & ~traced).any() else ~compiled
    each = np.repeat(taken[steady] / count[steady], count[steady])
    return StepSummary(
        loop=loop,
        count=int(count.sum()),
        first_ns=int(taken[first] / count[first]),
        median_ns=int(np.median(each)) if len(each) else None,
        p95_ns=int(np.percentile(each, 95)) if len(each) else None,
        samples_per_s=_throughput(steps.filter(pa.array(steady))["samples"], int(taken[steady].sum())),
        call_median_ns=_median(steps, "call_ns", steady),
        input_median_ns=_median(steps, "input_ns", steady),
        compiled=int(count[compiled].sum()),
    )


def _throughput(samples: pa.ChunkedArray, taken_ns: int) -> float | None:
    """Samples per second; None: there were no steps, or the number of samples of one is not known."""
    known = len(samples) and samples.null_count == 0
    return total(samples) / (taken_ns / 1e9) if known else None


def _median(steps: pa.Table, column: str, steady: Truths) -> int | None:
    values = steps[column].filter(pa.array(steady)).drop_null()
    return int(np.median(values.to_numpy())) if len(values) else None
