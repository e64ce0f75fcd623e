"""Steps of the loops: first, median, 95th percentile, throughput."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import loop_sums, pace, trace_pace
from dlprof.analysis.columns import integers, steps_of
from dlprof.analysis.loop_sums import LoopSums
from dlprof.analysis.pace import Pace
from dlprof.schema.vocabulary import Loop, RunState, SpanKind, StepTime
from dlprof.store.run import Run

LOOPS = (Loop.TRAIN, Loop.TEST, Loop.PREDICT, Loop.UNKNOWN)
"""Loops that have steps of a model, the one that counts most first."""
_READ_SHARE = 0.9
"""Where a value was read in so many steps, they keep the pace of the device."""
_UNKNOWN = (
    "Its steps return before the device has done them, and no whole epoch, call or window was seen at whose end it was "
    "waited for."
)
_OWN_STEPS = 3
"""Fewer calls of a step by the script itself are no loop."""


@dataclass(frozen=True)
class StepSummary:
    """Steps of one kind of loop. A step lasts from the end of the batch before it to its own end.

    Where the step function returns before the device is done, a step's own time is that of its dispatch, and says
    nothing of the step: then `median_ns` is the mean of steps that were waited for, and `p95_ns` is known only where
    a value was read in each of them.

    Attributes:
        loop: `train`, `test` or `predict`; `unknown` where a foreign trace does not tell it.
        count: Steps in all.
        first_ns: The first step, with what is compiled in it (ns); None: nobody saw it begin.
        median_ns: Median over steady steps: those in which nothing was compiled or traced (ns); None: not known.
        p95_ns: 95th percentile over steady steps (ns); None: not known.
        samples_per_s: Samples per second over steady steps; None where Keras does not say how many.
        call_median_ns: Median of the step function's call (ns), which is only the dispatch where it returns early; None
            where it was not seen.
        input_median_ns: Median of the host's wait for the batch (ns); None where it was not seen.
        compiled: Steps in which a graph was compiled.
        how: How `median_ns` and `samples_per_s` were got; None: they are not known.
        unknown: Why `median_ns` is not known, a sentence; None: it is.
    """

    loop: Loop
    count: int
    first_ns: int | None
    median_ns: int | None
    p95_ns: int | None
    samples_per_s: float | None
    call_median_ns: int | None
    input_median_ns: int | None
    compiled: int
    how: StepTime | None = StepTime.MEASURED
    unknown: str | None = None


def of_run(run: Run) -> list[StepSummary]:
    """Figures of each kind of loop that has steps, in the order of LOOPS: what all reports, rules and exports show."""
    return list(run.once("step_summaries", _of_run))


def _of_run(run: Run) -> list[StepSummary]:
    found, sums = [], run.once("loop_sums", loop_sums.of_run)
    for loop in (loop for loop in LOOPS if loop in sums):
        summary = _summary(loop, sums[loop])
        if run.manifest.state == RunState.IMPORTED:
            found.append(_of_trace(run, steps_of(run.table("steps"), loop), summary))
        else:
            found.append(summary if _each_is_done(run, sums[loop]) else _waited_for(run, sums[loop], summary))
    return found


def _each_is_done(run: Run, sums: LoopSums) -> bool:
    """Whether each step is done when it ends: by its engine, or as its call gives numbers."""
    if not run.manifest.backend.asynchronous_dispatch:
        return True
    return run.manifest.keras is not None and sums.loop_ids <= _own_calls(run)


def _own_calls(run: Run) -> set[int]:
    """Loops of `train_on_batch` and its kin, which give numbers."""
    return {row["span_id"] for row in run.chosen("spans", "kind", (SpanKind.ON_BATCH,), ("span_id",))}


def _waited_for(run: Run, sums: LoopSums, summary: StepSummary) -> StepSummary:
    """The figures of a loop whose steps end before they are done."""
    is_read = sums.waits >= _READ_SHARE * sums.rows or _reads_each(run, summary)
    tables = pace.tables_of(run)
    found = _pace(run, tables, summary.loop)
    how = StepTime.EPOCHS
    if found is None and is_read and summary.median_ns is not None and run.manifest.keras is None:
        return summary  # a loop of the script's own: from one value that was read to the next
    if found is None:
        found, how = pace.of_window(tables, summary.loop), StepTime.WINDOW
    if found is None:
        lost = replace(summary, median_ns=None, p95_ns=None, samples_per_s=None, how=None, unknown=_UNKNOWN)
        return summary if is_read else lost
    p95_ns = summary.p95_ns if is_read else None
    return replace(summary, median_ns=found.step_ns, p95_ns=p95_ns, samples_per_s=found.samples_per_s, how=how)


def _reads_each(run: Run, summary: StepSummary) -> bool:
    """Whether a line of a loop of the script's own reads a value of nearly every step: each is done then."""
    if run.manifest.keras is not None or summary.loop is not Loop.TRAIN:
        return False
    calls = max((row["calls"] for row in run.rows("syncs")), default=0)
    return calls >= _READ_SHARE * summary.count


def _of_trace(run: Run, steps: pa.Table, summary: StepSummary) -> StepSummary:
    """The figures of steps of a foreign trace: where a device computes, they end before it has done them."""
    found = trace_pace.of_steps(run, steps)
    if found is None:
        return summary
    return replace(summary, median_ns=found.step_ns, p95_ns=None, how=StepTime.WINDOW)


def _pace(run: Run, tables: Mapping[str, pa.Table], loop: Loop) -> Pace | None:
    is_keras = run.manifest.keras is not None
    if loop is Loop.TRAIN:
        return pace.of_training(tables) if is_keras or pace.is_told(tables) else None
    if not is_keras:
        return None
    return pace.of_calls(tables, loop, run.table("spans", ("span_id", "start_ns", "dur_ns")))


def of_own_loop(run: Run, steps: pa.Table) -> pa.Table:
    """Those of some steps that belong to the script's own loop over `train_on_batch`, in order of time."""
    calls = run.chosen("spans", "kind", (SpanKind.ON_BATCH,), ("span_id", "name"))
    loops = [row["span_id"] for row in calls if row["name"] == "train_on_batch"]
    return steps.filter(pc.is_in(steps["loop_id"], pa.array(loops, steps["loop_id"].type))).sort_by("start_ns")


def own_loop(run: Run) -> tuple[int, int]:
    """The script's own loop over `train_on_batch`: time between its steps, and in them (ns); 0: it has none.

    What a model predicts or evaluates between two steps is neither.
    """
    steps = run.table("steps", ("loop_id", "start_ns", "dur_ns"))
    inside = of_own_loop(run, steps)
    if inside.num_rows < _OWN_STEPS:
        return 0, 0
    start, dur = np.asarray(inside["start_ns"]), np.asarray(inside["dur_ns"])
    gaps = int(np.maximum(0, start[1:] - (start + dur)[:-1]).sum())
    return max(0, gaps - _others_between(steps, inside)), int(dur.sum())


def _others_between(steps: pa.Table, mine: pa.Table) -> int:
    """What steps of other loops take that begin between the first and the last of some steps (ns)."""
    others = steps.filter(pc.invert(pc.is_in(steps["loop_id"], pc.unique(mine["loop_id"]))))
    begins, bounds = integers(others["start_ns"]), integers(mine["start_ns"])
    return int(integers(others["dur_ns"])[(begins > bounds[0]) & (begins < bounds[-1])].sum())


def _summary(loop: Loop, sums: LoopSums) -> StepSummary:
    steady = sums.steady
    known = steady.rows > 0
    has_rate = known and not steady.unknown and steady.taken_ns > 0
    return StepSummary(
        loop=loop,
        count=sums.steps,
        first_ns=sums.first_ns or None,  # of a loop of JAX the first call may only be known by its end
        median_ns=sums.median_ns,
        p95_ns=sums.p95_ns,
        samples_per_s=steady.samples / (steady.taken_ns / 1e9) if has_rate else None,
        call_median_ns=sums.call_median_ns,
        input_median_ns=sums.input_median_ns,
        compiled=sums.compiled,
        how=StepTime.MEASURED if known else None,
        unknown=None if known else f"All {sums.steps} steps were first steps.",
    )
