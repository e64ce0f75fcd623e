"""What a run of foreign traces consists of, for its report: the leaves of its tree, and the parts of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import kernels
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.columns import steps_of, total
from dlprof.analysis.shares import proportional
from dlprof.report.model import PartTime, StepParts, TreeTime
from dlprof.schema.tree_paths import STEPS_OF_LOOP, TreePath
from dlprof.schema.vocabulary import Loop, StepPart
from dlprof.store.run import Run

_TOP = 3


def leaves(tree: Breakdown | None) -> tuple[TreeTime, ...] | None:
    """The leaves of the tree, those with most time first; None: the run has none."""
    if tree is None:
        return None
    order = sorted(tree.leaves.items(), key=lambda leaf: (-leaf[1], leaf[0]))
    return tuple(TreeTime(str(path), ns) for path, ns in order if ns)


def step_parts(run: Run, tree: Breakdown | None) -> StepParts | None:
    """What a step of the trace consists of, as a mean; None: it names no steps."""
    if tree is None or tree.unsplit is not None:
        return None
    loop = next((Loop(loop) for loop, path in STEPS_OF_LOOP.items() if path == tree.steps), None)
    count = total(steps_of(run.table("steps", ("loop", "count")), loop)["count"])
    if loop is None or tree.steps is None or not count:
        return None
    step_ns = tree.time(tree.steps) // count
    parts = proportional(step_ns, {part: tree.time(TreePath(tree.steps / part)) for part in StepPart})
    return StepParts(
        loop=loop,
        engine=_engine(run),
        steps=count,
        window_step_ns=step_ns,
        plain_step_ns=None,
        slowdown=None,
        parts=tuple(PartTime(part.value, parts.get(part, 0), None) for part in StepPart),
    )


@dataclass(frozen=True)
class Facts:
    """What the verdict needs beside the report.

    Attributes:
        idle: What the host did while GPUs were idle: part to time, summed over the GPUs (ns).
        kernels: Kernels and operators with most time in sum: name and time (ns).
        kernels_ns: Time of all of them (ns).
    """

    idle: Mapping[StepPart, int]
    kernels: Sequence[tuple[str, int]]
    kernels_ns: int


def facts(run: Run, tree: Breakdown | None) -> Facts:
    """What the verdict needs."""
    sums = kernels.summarise(run, "kernel")
    rows = sorted(sums.work, key=lambda row: -row.self_ns)[:_TOP]
    named = [(str(row.keys["name"]), row.self_ns) for row in rows]
    return Facts(tree.idle if tree is not None else {}, named, sums.all_ns)


def _engine(run: Run) -> str:
    return next((row["engine"] for row in run.rows("kernel_windows") if row["engine"]), "")
