"""The steps of a loop as leaves of the tree: their time, shared as the steps of its kernel window were composed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import layer_times, loops, step_split
from dlprof.analysis.columns import Integers, integers, steps_of, total
from dlprof.analysis.kernel_window import main_window
from dlprof.analysis.layer_times import LayerTime
from dlprof.analysis.shares import proportional
from dlprof.analysis.step_split import Agreement, StepSplit
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import EDGES, STEPS_OF_LOOP, TreePath
from dlprof.schema.vocabulary import PHASE_OF_LOOP, Loop, Phase, StepPart
from dlprof.store.run import Run

_EXECUTING = frozenset({Phase.FIT_STEPS, Phase.FIT_VALIDATION, Phase.EVALUATE, Phase.PREDICT})
"""Phases in which kernels run."""
_OUTSIDE_FIRST = (
    StepPart.INPUT,
    StepPart.HOST_PYTHON,
    StepPart.DISPATCH,
    StepPart.IDLE,
    StepPart.SYNC,
    StepPart.KERNELS,
)
"""Parts of the window's steps that hold the host's time in other phases: what was seen of it first."""


@dataclass(frozen=True)
class StepLeaves:
    """The leaves of a run whose steps are split.

    Attributes:
        leaves: All leaves of the tree (ns).
        layers: The kernels by layer, direction and operator; they sum to the leaves of kernels.
        unsplit: Why the steps are one leaf; None: they are split.
        beside_script_ns: Kernels that were taken from `script`, beside which they ran.
        bounds: Between which times leaves lie, as far as the few steps that were traced agree (ns); those that are not
            here are known.
    """

    leaves: Mapping[TreePath, int]
    layers: tuple[LayerTime, ...] = ()
    unsplit: str | None = None
    beside_script_ns: int = 0
    bounds: Mapping[TreePath, tuple[int, int]] = field(default_factory=dict)


def split(run: Run, loop: Loop, leaves: Mapping[TreePath, int], own_ns: int) -> StepLeaves:
    """Split the steps of a loop whose steps are done when they return.

    Args:
        run: The run.
        loop: The loop.
        leaves: The leaves with the loop's phase among them.
        own_ns: What kernel windows and counting lines made the loop's steps longer; it is no longer in `leaves`.
    """
    phase, root = tree_paths.of_phase(PHASE_OF_LOOP[loop]), STEPS_OF_LOOP[loop]
    edges = _edges(run, loop, leaves[phase], own_ns)
    rest = {path: ns for path, ns in leaves.items() if path != phase}
    inside = _by_window(run, loop, leaves[phase] - edges) or _by_totals(run, loop, leaves[phase] - edges)
    if inside is None:
        return StepLeaves({**rest, root: leaves[phase]}, unsplit=_why_unsplit(run))
    parts = {path: ns for path, ns in inside.leaves.items() if ns > 0}
    whole = {**rest, **parts, **({root / EDGES: edges} if edges else {})}
    return StepLeaves(whole, inside.layers, bounds=inside.bounds)


def _edges(run: Run, loop: Loop, phase_ns: int, own_ns: int) -> int:
    """Time of the phase that no plain step accounts for (ns); 0 where steps return before they are done."""
    if run.manifest.backend.asynchronous_dispatch:
        return 0
    steps = sum(_own_time(piece, loop) for piece in run.pieces("steps", ("loop", "compiled", "dur_ns", "callbacks_ns")))
    return max(0, phase_ns - (steps - own_ns))


def _own_time(steps: pa.Table, loop: Loop) -> int:
    """What plain steps of a loop took, without callbacks in those of training (ns)."""
    own = steps_of(steps, loop)
    plain = own.filter(pc.invert(own["compiled"]))
    return total(plain["dur_ns"]) - (total(plain["callbacks_ns"]) if loop is Loop.TRAIN else 0)


def _by_window(run: Run, loop: Loop, time_ns: int) -> StepLeaves | None:
    """The time of the steps as their window was composed; None: there was no window of the loop."""
    window = step_split.of_run(run)
    if window is None or window.loop != loop:
        return None
    weights = {part: window.window_time(part) for part in StepPart}
    _take_outside(weights, outside_steps(run, window))
    longer_ns = _longer(run, loop, time_ns, window.agreement)
    parts = shared(time_ns - longer_ns, weights)
    if window.agreement is not None:
        rest = StepPart.INPUT if loops.fetches_inside_steps(run) else StepPart.HOST_PYTHON
        _add_longer(parts, longer_ns, window.agreement.more, time_ns - longer_ns, rest)
    kernels_ns = parts.pop(StepPart.KERNELS, 0)
    layers = layer_times.shares(run, kernels_ns, window.window)
    if not layers:
        parts[StepPart.DISPATCH] = parts.get(StepPart.DISPATCH, 0) + kernels_ns
    root = STEPS_OF_LOOP[loop]
    found = {**{root / part: ns for part, ns in parts.items()}, **kernel_leaves(root, layers)}
    return StepLeaves(found, layers, bounds=_bounds(found, window, root, time_ns - longer_ns))


def _longer(run: Run, loop: Loop, time_ns: int, agreement: Agreement | None) -> int:
    """Of the time of steps what some of them took longer than those that the traced ones stand for (ns).

    A pause in every tenth step is in the sum of their times, and in no typical step.
    """
    pieces = [steps_of(piece, loop) for piece in run.pieces("steps", ("loop", "compiled", "dur_ns", "callbacks_ns"))]
    times = [_own_times(piece, loop) for piece in pieces]
    plain = np.concatenate(times) if times else np.zeros(0, np.int64)
    if agreement is None or not len(plain):
        return 0
    return max(0, time_ns - int(len(plain) * float(np.median(plain)) * agreement.mean))


def _own_times(steps: pa.Table, loop: Loop) -> Integers:
    """What each plain step took, without callbacks in those of training (ns)."""
    plain = steps.filter(pc.invert(steps["compiled"]))
    callbacks = integers(plain["callbacks_ns"]) if loop is Loop.TRAIN else 0
    return integers(plain["dur_ns"]) - callbacks


def _add_longer(
    parts: dict[StepPart, int], longer_ns: int, more: Mapping[StepPart, float], typical_ns: int, rest: StepPart
) -> None:
    """What some steps took longer goes to the parts in which traced ones did, as far as these tell.

    Kernels of equal work take no longer in some steps than in others: the rest is Python of the host, or, where steps
    fetch their batches themselves, and have hardly any Python, waits for these.
    """
    seen_ns = min(longer_ns, int(sum(more.values()) * typical_ns))
    for part, ns in proportional(seen_ns, {part: int(share * typical_ns) for part, share in more.items()}).items():
        parts[part] = parts.get(part, 0) + ns
        longer_ns -= ns
    parts[rest] = parts.get(rest, 0) + longer_ns


def _bounds(
    leaves: Mapping[TreePath, int], window: StepSplit, root: TreePath, time_ns: int
) -> dict[TreePath, tuple[int, int]]:
    """How far the time of each leaf may be off, by how far the parts of the traced steps are apart (ns).

    Categories of kernels share the kernels' time, and by how much that may be off.
    """
    found = {}
    for part, (low, high) in window.agreement.bounds.items() if window.agreement is not None else ():
        inside = {leaf: ns for leaf, ns in leaves.items() if (root / part).holds(leaf)}
        whole, share = max(1, sum(inside.values())), window.window_time(part) / max(1, window.window_step_ns)
        for leaf, ns in inside.items():
            below, above = ((edge - share) * time_ns * ns / whole for edge in (low, high))
            found[leaf] = max(0, int(ns + min(0, below))), int(ns + max(0, above))
    return found


def _by_totals(run: Run, loop: Loop, time_ns: int) -> StepLeaves | None:
    """From sums over the whole run (Theano): its executing phases share them as they share the time; None: no sums."""
    totals = run.table("kernel_totals")
    if not totals.num_rows:
        return None
    executing = sum(row["dur_ns"] for row in run.rows("phases") if row["phase"] in _EXECUTING)
    share = min(1.0, time_ns / executing) if executing else 0.0
    layers = layer_times.shares(run, min(time_ns, int(total(totals["total_ns"]) * share)), None)
    host = time_ns - sum(layer.ns for layer in layers)
    root = STEPS_OF_LOOP[loop]
    return StepLeaves({**kernel_leaves(root, layers), root / StepPart.HOST_PYTHON: host}, layers)


def _why_unsplit(run: Run) -> str:
    probe = next((row for row in run.rows("probes") if row["name"] == "kernels"), None)
    return (probe["reason"] if probe else None) or "no kernel window was traced"


def kernel_leaves(root: TreePath, layers: tuple[LayerTime, ...]) -> dict[TreePath, int]:
    """Kernels by category, as leaves below the steps at `root` (ns)."""
    return {root / StepPart.KERNELS / category: ns for category, ns in layer_times.by_category(layers).items()}


def shared(time_ns: int, weights: Mapping[StepPart, int]) -> dict[StepPart, int]:
    """Some time in proportion to the weights of the parts; it is the host's where nothing was seen of them."""
    return proportional(time_ns, weights) or ({StepPart.HOST_PYTHON: time_ns} if time_ns else {})


def outside_steps(run: Run, split: StepSplit) -> int:
    """What steps of the window spent waiting for their batch and in callbacks: other phases hold that (ns a step)."""
    window = main_window(run)
    if split.loop is not Loop.TRAIN or window is None:
        return 0
    return outside(window.steps_in(run)) // max(1, split.steps)


def outside(steps: pa.Table) -> int:
    """Waits of some steps for their batch, and their callbacks (ns)."""
    return total(steps["input_ns"]) + total(steps["callbacks_ns"])


def _take_outside(weights: dict[StepPart, int], outside_ns: int) -> None:
    """Take the host's time in other phases off the parts of a step."""
    for part in _OUTSIDE_FIRST:
        taken = min(outside_ns, weights[part])
        weights[part] -= taken
        outside_ns -= taken
