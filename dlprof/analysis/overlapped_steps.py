"""The steps of an engine that works on when a step has returned, as leaves of the tree: kernels come first there."""

from __future__ import annotations

from collections.abc import Mapping

from dlprof.analysis import layer_times, samples, step_leaves, step_split
from dlprof.analysis.columns import steps_of, total
from dlprof.analysis.step_leaves import StepLeaves
from dlprof.analysis.step_split import StepSplit
from dlprof.analysis.steps import own_loop
from dlprof.engines import registry
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Loop, SpanKind, StepPart
from dlprof.store.run import Run

_FILLED = 0.5
"""Share of the window's steps from which on kernels, and waits for them, are what steps take their time for."""
_HOST = (Tree.FIT_WAIT, Tree.FIT_STEPS, Tree.FIT_CALLBACKS, Tree.FIT_INPUT)
"""Phases of the host in a training loop, beside which the device works, where steps return before they are done."""
_APART = frozenset({StepPart.KERNELS, StepPart.INPUT})
"""Parts of a step whose time is known otherwise."""


def split(run: Run, leaves: Mapping[TreePath, int]) -> StepLeaves | None:
    """Split a training loop in which the host runs ahead of the device: kernels first, whatever the host did meanwhile.

    Kernels ran while the host waited for values in callbacks, while it was in the step, and, as far as that is not
    enough, beside the rest; some also beside the script, where it calls the steps itself.

    Args:
        run: The run.
        leaves: The leaves with the phases of its training among them.

    Returns:
        None where the engine is done when a step is, or where no window was traced.
    """
    window = step_split.of_run(run) if _works_beside_host(run) else None
    if window is None or window.loop is not Loop.TRAIN:
        return None
    host = {path: leaves.get(path, 0) for path in _HOST}
    rest = {path: ns for path, ns in leaves.items() if path not in host}
    beside = _beside_script(run, rest.get(Tree.SCRIPT, 0))
    if beside:
        rest[Tree.SCRIPT] -= beside
    steps = sum(total(steps_of(piece, Loop.TRAIN)["count"]) for piece in run.pieces("steps", ("loop", "count")))
    kernel_ns = min(_plain_kernels(run, window) * steps, sum(host.values()))
    _hide(run, host, kernel_ns)
    layers = layer_times.shares(run, kernel_ns + beside, window.window)
    inside = _step_parts(window, host.pop(Tree.FIT_STEPS), step_leaves.kernel_leaves(Tree.FIT_STEPS, layers))
    lost = sum(leaves.values()) - sum(rest.values()) - sum(host.values()) - sum(inside.values())
    if lost:  # kernels without a row: those of input pipelines
        dispatch = Tree.FIT_STEPS / StepPart.DISPATCH
        inside[dispatch] = inside.get(dispatch, 0) + lost
    shown = {path: ns for path, ns in host.items() if ns} | {path: ns for path, ns in inside.items() if ns > 0}
    return StepLeaves({**rest, **shown}, layers, beside_script_ns=beside)


def kernels_of_step(run: Run) -> tuple[int, int] | None:
    """For how long kernels run in a training step without a tracer, as the tree has it (ns), and the window that tells.

    Of a run whose training steps were all traced it is that of a traced one. None: no window of training was traced.
    """
    window = step_split.of_run(run)
    if window is None or window.loop is not Loop.TRAIN:
        return None
    if _works_beside_host(run):
        ns = min(_plain_kernels(run, window), window.plain_step_ns or window.window_step_ns)
    else:
        ns = (window.plain_ns or window.window_ns)[StepPart.KERNELS] or 0
    return ns, window.window


def _works_beside_host(run: Run) -> bool:
    """Whether the engine works on when a step has returned: on MXNet the update does, though outputs are there."""
    engine = registry.under_keras(run.manifest.keras_backend)
    return run.manifest.backend.asynchronous_dispatch or (engine is not None and engine.runs_on)


def _hide(run: Run, host: dict[TreePath, int], kernel_ns: int) -> None:
    """Take the kernels' time off the host's phases, first where it waited for them (ns)."""
    left, validation = kernel_ns, _validation(run)
    places = [
        (Tree.FIT_WAIT, host[Tree.FIT_WAIT]),
        (Tree.FIT_CALLBACKS, _waits(run, host[Tree.FIT_CALLBACKS])),
        *((path, host[path]) for path in _HOST),
    ]
    for path, most in places:
        hidden = max(0, min(left, most, host[path] - (validation if path == Tree.FIT_CALLBACKS else 0)))
        host[path] -= hidden
        left -= hidden


def _step_parts(window: StepSplit, time_ns: int, kernels: Mapping[TreePath, int]) -> dict[TreePath, int]:
    """What is left of the host's time in steps, shared as in the window, and the kernels (ns)."""
    weights = {part: window.window_time(part) for part in StepPart if part not in _APART and window.window_ns[part]}
    parts = step_leaves.shared(time_ns, weights)
    return {**{Tree.FIT_STEPS / part: ns for part, ns in parts.items()}, **kernels}


def _plain_kernels(run: Run, window: StepSplit) -> int:
    """Kernels of a plain step (ns): where they fill the window's steps, they take the same share of plain ones.

    Where they do not, it is mostly the host that the tracer, or the end of an epoch in the window, made slower; but the
    profiler of MXNet makes each operator slower. What only callbacks and input made longer is no work of kernels.
    """
    kernels, slowdown = window.window_time(StepPart.KERNELS), window.slowdown or 1.0
    if kernels + window.window_time(StepPart.SYNC) < _FILLED * window.window_step_ns:
        slowdown = 1.0 if run.manifest.backend.asynchronous_dispatch else max(1.0, slowdown)
    if slowdown < 1 and window.plain_step_ns:
        rows = steps_of(run.table("steps", ("loop", "input_ns", "callbacks_ns")), window.loop)
        plain = window.plain_step_ns - step_leaves.outside(rows) // max(1, rows.num_rows)
        traced = window.window_step_ns - step_leaves.outside_steps(run, window)
        slowdown = min(1.0, max(slowdown, traced / max(1, plain)))
    return int(kernels / slowdown)


def _beside_script(run: Run, script_ns: int) -> int:
    """Kernels that ran while the script's own loop made its next batch (ns)."""
    gaps = min(script_ns, own_loop(run)[0])
    share = step_split.between_steps(run) if gaps else None  # reads the kernels again: not for nothing
    return int(share * gaps) if share else 0


def _validation(run: Run) -> int:
    """Time of evaluations that callbacks make (ns): their waits are for their own kernels."""
    outer = {row["span_id"] for row in run.chosen("spans", "kind", (SpanKind.CALLBACKS,), ("span_id",))}
    inner = run.chosen("spans", "kind", (SpanKind.EVALUATE, SpanKind.PREDICT), ("parent_id", "dur_ns"))
    return sum(row["dur_ns"] for row in inner if row["parent_id"] in outer)


def _waits(run: Run, callbacks_ns: int) -> int:
    """How long callbacks waited for values of the device, by the samples (ns).

    Where nothing was sampled it is all of it, or, where waits were measured, nothing: those are no callbacks.
    """
    sampled = samples.by_phase(run)
    share = samples.waiting_share(sampled, Tree.FIT_CALLBACKS)
    if share is None:
        return 0 if samples.measures_waits(run) else callbacks_ns
    return int(share * callbacks_ns)
