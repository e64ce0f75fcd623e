"""The wall time of a run as one tree whose leaves sum to it: phases, and inside steps what the engine and the host did.

    fit/steps/kernels/matmul      at least one kernel ran; categories share this time as they share the work
    fit/steps/dispatch            the framework got work ready
    fit/steps/edges               between the steps: beginnings and ends of epochs, what is left of first steps
    dlprof/own                    our own work in the process, and what counting lines took of the phases they ran in
    dlprof/tracing                what kernel windows made their steps longer

How steps are composed is measured in a kernel window and laid over the plain steps, whose time is measured without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow.compute as pc

from dlprof.analysis import (
    counting_cost,
    layer_times,
    overlapped_steps,
    pace,
    step_leaves,
    step_times,
    trace_tree,
    training_threads,
)
from dlprof.analysis.layer_times import LayerTime
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import OWN_PATHS, STEPS_OF_LOOP, Tree, TreePath
from dlprof.schema.vocabulary import (
    PHASE_OF_LOOP,
    Loop,
    Phase,
    RunState,
    StepPart,
    known_category,
    known_phase,
)
from dlprof.store.run import Run


@dataclass(frozen=True)
class Breakdown:
    """The tree of one run.

    Attributes:
        leaves: Path to time (ns); with `unattributed_ns` they sum to `wall_ns`.
        wall_ns: Start to end of the process.
        unattributed_ns: In no phase.
        steps: Path of the leaves that are split, such as `fit/steps`; None: the run had no steps.
        unsplit: Why the steps are not split; None: they are.
        layers: The kernels of the steps by layer, direction and operator; they sum to the leaves of kernels.
        beside_script_ns: Kernels that ran beside the script's own loop: they are in their leaves, and not in `script`.
        idle: Of a run of foreign traces with GPUs: what the host did while these were idle, from the first to the last
            kernel of each, as a sum over them (ns).
        bounds: Between which times leaves of the steps lie, as far as the few steps that were traced agree (ns); those
            that are not here are measured as they are.
    """

    leaves: Mapping[TreePath, int]
    wall_ns: int
    unattributed_ns: int
    steps: TreePath | None
    unsplit: str | None
    layers: tuple[LayerTime, ...]
    beside_script_ns: int = 0
    idle: Mapping[StepPart, int] = field(default_factory=dict)
    bounds: Mapping[TreePath, tuple[int, int]] = field(default_factory=dict)

    @property
    def net_ns(self) -> int:
        """Wall time without dlprof's own share (ns)."""
        return self.wall_ns - sum(self.leaves.get(leaf, 0) for leaf in OWN_PATHS)

    def kernels_leaf(self, category: str | None) -> TreePath:
        """Path of the leaf that holds kernels of a category.

        Raises:
            ValueError: The run had no steps.
        """
        if self.steps is None:
            raise ValueError("a run without steps has no kernels in its tree")
        return self.steps / StepPart.KERNELS / known_category(category)

    def time(self, path: TreePath) -> int:
        """Time of a leaf, or of all leaves below a path (ns)."""
        return sum(ns for leaf, ns in self.leaves.items() if path.holds(leaf))


def _why_no_step(run: Run) -> str:
    """Why the tree of a run has no steps."""
    if training_threads.of_run(run) is not None:
        return "they ran on another thread than the one whose time it is that phases tell"
    return "no step of fit, evaluate or predict was seen"


def of_run(run: Run) -> Breakdown | None:
    """The tree of a run; None where its wall time or its phases are not known."""
    if run.manifest.state == RunState.IMPORTED:
        return _of_traces(run)
    wall, leaves = run.wall_ns, _phase_leaves(run)
    if wall is None or leaves is None:
        return None
    traced = _tracing(run)
    for loop, ns in traced.items():
        _move(leaves, tree_paths.of_phase(PHASE_OF_LOOP[loop]), Tree.TRACING, ns)
    counted = counting_cost.by_place(run, leaves)
    for place, ns in counted.items():
        _move(leaves, place, Tree.OWN, ns)
    unattributed = wall - sum(leaves.values())
    loop_of_run = _main_loop(run)
    if loop_of_run is None or tree_paths.of_phase(PHASE_OF_LOOP[loop_of_run]) not in leaves:
        why = run.missing("steps") or _why_no_step(run)
        return Breakdown(leaves, wall, unattributed, None, why, ())
    split = overlapped_steps.split(run, leaves) if loop_of_run is Loop.TRAIN else None
    if split is None:
        of_loop = counted.get(tree_paths.of_phase(PHASE_OF_LOOP[loop_of_run]), 0)
        split = step_leaves.split(run, loop_of_run, leaves, traced.get(loop_of_run, 0) + of_loop)
    return Breakdown(
        split.leaves,
        wall,
        unattributed,
        STEPS_OF_LOOP[loop_of_run],
        split.unsplit,
        split.layers,
        split.beside_script_ns,
        bounds=split.bounds,
    )


def why_none(run: Run) -> str:
    """Why a run has no tree, as the end of a sentence."""
    if run.manifest.state != RunState.IMPORTED:
        return run.missing("phases") or "the run has no phases"
    if run.count("kernel_totals"):
        return "its files hold sums without times, so that it has no beginning and no end"
    return "its files hold no event that takes time"


def _of_traces(run: Run) -> Breakdown | None:
    """The tree of a run of foreign traces; None: they do not tell how long it was."""
    if run.wall_ns is None:
        return None
    tree = trace_tree.of_run(run, run.wall_ns)
    rest = run.wall_ns - sum(tree.leaves.values())
    return Breakdown(tree.leaves, run.wall_ns, rest, tree.steps, tree.unsplit, tree.layers, idle=tree.idle)


def without_phases(run: Run) -> Breakdown | None:
    """The tree of a run that has no phases, such as one of foreign traces: all of its time is unattributed.

    Its kernels are all there are, each with its own time. None: not even the wall time is known.
    """
    if run.wall_ns is None:
        return None
    return Breakdown({}, run.wall_ns, run.wall_ns, None, "a run has no phases", layer_times.measured(run))


def _phase_leaves(run: Run) -> dict[TreePath, int] | None:
    """The phases that have no parts, with their time (ns); None: none is known."""
    rows = run.rows("phases")
    parents = {row["parent"] for row in rows if row["parent"]}
    times = ((known_phase(row["phase"]), row["dur_ns"]) for row in rows if row["phase"] not in parents)
    leaves = {tree_paths.of_phase(phase): ns for phase, ns in times if ns > 0 and phase is not Phase.UNATTRIBUTED}
    return leaves if rows else None


def _move(leaves: dict[TreePath, int], source: TreePath, target: TreePath, ns: int) -> None:
    moved = min(ns, leaves.get(source, 0))
    if moved > 0:
        leaves[source] -= moved
        leaves[target] = leaves.get(target, 0) + moved


def _main_loop(run: Run) -> Loop | None:
    seen = {loop for piece in run.pieces("steps", ("loop",)) for loop in pc.unique(piece["loop"]).to_pylist()}
    return next((Loop(loop) for loop in STEPS_OF_LOOP if loop in seen), None)


def _tracing(run: Run) -> dict[Loop, int]:
    """By how much kernel windows made their steps longer, by loop (ns)."""
    asynchronous = run.manifest.backend.asynchronous_dispatch
    windows = [row for row in run.rows("kernel_windows") if row["loop"] in STEPS_OF_LOOP and row["steps"]]
    tables, longer = pace.tables_of(run) if windows else {}, dict[Loop, int]()
    for row in windows:
        times = step_times.compare(tables, row["window"], asynchronous=asynchronous)
        if times.plain_ns is not None:
            extra = max(0, (times.window_ns - times.plain_ns) * row["steps"])
            longer[Loop(row["loop"])] = longer.get(Loop(row["loop"]), 0) + extra
    return longer
