"""What a run of foreign traces consists of, for its report: the leaves of its tree, and the parts of a step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import kernels, trace_between, trace_phases, trace_processes
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.columns import steps_of, total
from dlprof.analysis.shares import proportional
from dlprof.analysis.trace_between import Between
from dlprof.analysis.trace_processes import ProcessTime
from dlprof.report.model import PartTime, StepParts, TreeTime
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import MarkSort
from dlprof.schema.tree_paths import STEPS_OF_LOOP, TreePath
from dlprof.schema.vocabulary import EventKind, Loop, StepPart
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
    unseen = _unseen(run)
    parts = proportional(step_ns, {part: tree.time(TreePath(tree.steps / part)) for part in StepPart})
    return StepParts(
        loop=loop,
        engine=_engine(run),
        steps=count,
        window_step_ns=step_ns,
        plain_step_ns=None,
        slowdown=None,
        parts=tuple(PartTime(part.value, _known(part, parts.get(part, 0), unseen), None) for part in StepPart),
    )


def _known(part: StepPart, time_ns: int, unseen: Collection[StepPart]) -> int | None:
    """The time of a part; None where none was found because such a trace shows none."""
    return None if not time_ns and part in unseen else time_ns


def _unseen(run: Run) -> set[StepPart]:
    """Parts that no event of the trace would be of: that none was seen does not say that they took no time."""
    ops = run.rows("kernel_ops")
    kinds = {op["kind"] for op in ops}
    marks = {mark.sort for mark in trace_marks.of_ops(ops).values()}
    unseen = set()
    if EventKind.PYTHON.word not in kinds:
        unseen.add(StepPart.HOST_PYTHON)
    if MarkSort.INPUT not in marks:
        unseen.add(StepPart.INPUT)
    if EventKind.KERNEL.word not in kinds:  # tracers of devices show copies and waits, too
        seen = ((StepPart.TRANSFER, EventKind.TRANSFER), (StepPart.SYNC, EventKind.WAIT))
        unseen.update(part for part, kind in seen if kind.word not in kinds)
    return unseen


@dataclass(frozen=True)
class Facts:
    """What the verdict needs beside the report.

    Attributes:
        idle: What the host did while GPUs were idle: part to time, summed over the GPUs (ns).
        kernels: Kernels and operators with most time in sum: name and time (ns).
        kernels_ns: Time of all of them (ns).
        processes: The processes of its files, where one holds several; the one that is told comes first.
        between: Ranges of the user's while no operator ran; None: a device was traced, or nothing is known.
    """

    idle: Mapping[StepPart, int]
    kernels: Sequence[tuple[str, int]]
    kernels_ns: int
    processes: Sequence[ProcessTime] = ()
    between: Between | None = None


def facts(run: Run, tree: Breakdown | None) -> Facts:
    """What the verdict needs."""
    sums = kernels.summarise(run, "kernel")
    rows = sorted(sums.work, key=lambda row: -row.self_ns)[:_TOP]
    named = [(str(row.keys["name"]), row.self_ns) for row in rows]
    return Facts(tree.idle if tree is not None else {}, named, sums.all_ns, _processes(run), trace_between.of_run(run))


def _processes(run: Run) -> Sequence[ProcessTime]:
    place, found = trace_phases.main_place(run), trace_processes.of_run(run)
    return sorted(found, key=lambda one: place is None or one.process != (place.host, place.rank, place.pid))


def _engine(run: Run) -> str:
    return next((row["engine"] for row in run.rows("kernel_windows") if row["engine"]), "")
