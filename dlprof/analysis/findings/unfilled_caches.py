"""Caches of tf.data that are never full: what goes into them is made again in each epoch.

That steps of later epochs take as long says little alone: a cache that works does so, too, where the training computes
for longer than its batches take. So it is claimed where what stands in front of the cache was seen to run in a later
epoch; or where steps took no longer than that work does and no less later on, and something is known to stop before
the end of what goes into the cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import columns
from dlprof.analysis.findings.case import Case
from dlprof.analysis.input_graphs import GraphStage, InputGraph
from dlprof.schema.vocabulary import Loop

_AS_LONG = 0.7
"""Of a step of the first epoch: without the work whose results are kept, those of later ones take less."""
_HOLDS_UP = 0.8
"""Of a step of the first epoch, from which on the work for a batch is what steps take."""
_STOPS, _REPEATS = "Take", "Repeat"
"""In the names of stages that end a pass early, and that begin another one without an epoch's end."""
_WRITTEN = r"steps_per_epoch\s*="


@dataclass(frozen=True)
class UnfilledCache:
    """A cache that keeps nothing for the next epoch.

    Attributes:
        stage: The cache.
        seen: Whether what stands in front of it was seen to run in a later epoch.
        stops: Whether something is known to stop before all that goes into it was read.
    """

    stage: GraphStage
    seen: bool
    stops: bool

    @property
    def said(self) -> str:
        """What is known of it, sentences with a blank behind them."""
        line = self.stage.line
        why = (
            "it is full only when all that goes into it was read to the end, and what stands behind it (take, or "
            "steps_per_epoch) stops before. "
            if self.stops
            else "it is full only when all that goes into it was read to the end. "
        )
        if self.seen:
            return f"What goes into the cache at line {line} was made again in a later epoch: {why}"
        return f"The cache at line {line} keeps nothing for the next epoch, whose steps take as long: {why}"

    @property
    def fix(self) -> str | None:
        """The change; None: what stops early is not known."""
        return f".cache() behind .take(...), not in front of it (line {self.stage.line})" if self.stops else None


def behind_slowest(case: Case, graph: InputGraph) -> UnfilledCache | None:
    """The cache behind the slowest stage of the training's pipeline; None: there is none, or it may well work."""
    cache, slowest = graph.kept_behind, graph.slowest_stage
    if cache is None or slowest is None:
        return None
    names = _behind(graph, cache)
    if any(_REPEATS in name for name in names):  # an epoch's end is not the end of what is read
        return None
    stops = any(_STOPS in name for name in names) or case.code.written(_WRITTEN) is not None
    steps = _steps(case)
    again = _runs_again(case, slowest, steps)
    if again:
        return UnfilledCache(cache, seen=True, stops=stops)
    if again is None and stops and _are_epochs_alike(steps, (slowest.limit_ns or 0) / max(1, graph.batches)):
        return UnfilledCache(cache, seen=False, stops=True)
    return None


def _behind(graph: InputGraph, cache: GraphStage) -> list[str]:
    """Names of the stages that read from a cache, directly or through others."""
    names, place = [], cache.parent
    while place is not None:
        names.append(graph.stages[place].name)
        place = graph.stages[place].parent
    return names


def _steps(case: Case) -> pa.Table:
    """Training steps of known epochs, without the first ones of loops."""
    table = columns.steps_of(case.run.table("steps", ("loop", "epoch", "start_ns", "dur_ns", "first")), Loop.TRAIN)
    return table.filter(pc.and_(pc.is_valid(table["epoch"]), pc.invert(pc.fill_null(table["first"], False))))


def _runs_again(case: Case, stage: GraphStage, steps: pa.Table) -> bool | None:
    """Whether a stage in front of a cache made elements in a window of a later epoch; None: there is no such window."""
    if not steps.num_rows:
        return None
    first = pc.min(steps["epoch"]).as_py()
    later = steps.filter(pc.greater(steps["epoch"], first))
    if not later.num_rows:
        return None
    begins = pc.min(later["start_ns"]).as_py()
    windows = {
        (row["host"], row["rank"], row["window"])
        for row in case.run.rows("kernel_windows")
        if row.get("loop") == Loop.TRAIN and row["start_ns"] >= begins
    }
    rows = [row for row in case.run.rows("input_stages") if (row["host"], row["rank"], row["window"]) in windows]
    if not rows:
        return None
    alike = (stage.name, stage.file, stage.line)
    return any((row["name"], row["file"], row["line"]) == alike and _worked(row) for row in rows)


def _worked(row: dict[str, object]) -> bool:
    return bool(row["element_count"] or row["function_ns"])


def _are_epochs_alike(steps: pa.Table, work_ns: float) -> bool:
    """Whether steps of the last epoch take as long as those of the first, which the work for their batches held up.

    Args:
        steps: See `_steps`.
        work_ns: The least that this work takes for a batch (ns).
    """
    if not steps.num_rows:
        return False
    ends = pc.min_max(steps["epoch"]).as_py()
    first, last = (
        pc.approximate_median(steps.filter(pc.equal(steps["epoch"], ends[end]))["dur_ns"]).as_py()
        for end in ("min", "max")
    )
    is_held_up = work_ns >= _HOLDS_UP * first
    return bool(is_held_up and ends["max"] > ends["min"] and last >= _AS_LONG * first)
