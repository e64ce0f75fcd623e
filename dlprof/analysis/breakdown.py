"""The wall time of a run as one tree whose leaves sum to it: phases, and inside steps what the engine and the host did.

    fit/steps/kernels/matmul      at least one kernel ran; categories share this time as they share the work
    fit/steps/dispatch            the framework got work ready
    fit/steps/edges               between the steps: beginnings and ends of epochs, what is left of first steps
    dlprof/tracing                what kernel windows made their steps longer

How steps are composed is measured in a kernel window and laid over the plain steps, whose time is measured without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import kernels, samples, step_split, step_times
from dlprof.analysis.steps import own_loop
from dlprof.engines import registry
from dlprof.store.run import Run

STEPS = {"train": "fit/steps", "test": "evaluate/steps", "predict": "predict/steps"}
"""Where the steps of each loop are in the tree."""
_PHASES = {"train": "fit.steps", "test": "evaluate", "predict": "predict"}
OWN = ("dlprof/own", "dlprof/tracing")
"""Leaves that are dlprof's own cost."""


@dataclass(frozen=True)
class LayerTime:
    """Kernel time of a layer in one direction, as a part of the run (ns)."""

    layer: str | None
    direction: str | None
    op: str | None
    category: str | None
    ns: int


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
    """

    leaves: Mapping[str, int]
    wall_ns: int
    unattributed_ns: int
    steps: str | None
    unsplit: str | None
    layers: tuple[LayerTime, ...]
    beside_script_ns: int = 0

    @property
    def net_ns(self) -> int:
        """Wall time without dlprof's own share (ns)."""
        return self.wall_ns - sum(self.leaves.get(leaf, 0) for leaf in OWN)

    def kernels_leaf(self, category: str | None) -> str:
        """Path of the leaf that holds kernels of a category; there is one where the steps are split."""
        return f"{self.steps}/{_part(category)}"

    def time(self, path: str) -> int:
        """Time of a leaf, or of all leaves below a path (ns)."""
        return sum(ns for leaf, ns in self.leaves.items() if leaf == path or leaf.startswith(f"{path}/"))


def of_run(run: Run) -> Breakdown | None:
    """The tree of a run; None where its wall time or its phases are not known."""
    wall, rows = run.wall_ns, run.rows("phases")
    if wall is None or not rows:
        return None
    parents = {row["parent"] for row in rows if row["parent"]}
    leaves = {_path(row["phase"]): row["dur_ns"] for row in rows if row["phase"] not in parents}
    leaves = {name: ns for name, ns in leaves.items() if ns > 0}
    loop, traced = _main_loop(run), _tracing(run)
    for name, ns in traced.items():
        _move(leaves, _path(_PHASES[name]), "dlprof/tracing", ns)
    unattributed = wall - sum(leaves.values())
    if loop is None or _path(_PHASES[loop]) not in leaves:
        return Breakdown(leaves, wall, unattributed, None, "no step of fit, evaluate or predict was seen", ())
    return _split(run, loop, leaves, wall, unattributed, traced.get(loop, 0))


def without_phases(run: Run) -> Breakdown | None:
    """The tree of a run that has no phases, such as one of foreign traces: all of its time is unattributed.

    Its kernels are all there are, each with its own time. None: not even the wall time is known.
    """
    if run.wall_ns is None:
        return None
    found = kernels.summarise(run, "layer", kinds=("kernel", "operator"))
    layers = tuple(
        LayerTime(
            row.keys.get("layer"), row.keys.get("direction"), row.keys.get("op"), row.keys.get("category"), row.total_ns
        )
        for row in found.rows
    )
    return Breakdown({}, run.wall_ns, run.wall_ns, None, "a run has no phases", layers)


def _path(phase: str) -> str:
    return "dlprof/own" if phase == "dlprof" else phase.replace(".", "/")


def _move(leaves: dict[str, int], source: str, target: str, ns: int) -> None:
    moved = min(ns, leaves.get(source, 0))
    if moved > 0:
        leaves[source] -= moved
        leaves[target] = leaves.get(target, 0) + moved


def _main_loop(run: Run) -> str | None:
    seen = set(pc.unique(run.table("steps")["loop"]).to_pylist())
    return next((loop for loop in STEPS if loop in seen), None)


def _tracing(run: Run) -> dict[str, int]:
    """By how much kernel windows made their steps longer, by loop (ns)."""
    asynchronous = run.manifest.backend.asynchronous_dispatch
    tables = {name: run.table(name) for name in ("steps", "epochs", "phase_intervals", "kernel_windows")}
    found: dict[str, int] = {}
    for row in run.rows("kernel_windows"):
        if row["loop"] in STEPS and row["steps"]:
            times = step_times.compare(tables, row["window"], asynchronous=asynchronous)
            if times.plain_ns is not None:
                extra = max(0, (times.window_ns - times.plain_ns) * row["steps"])
                found[row["loop"]] = found.get(row["loop"], 0) + extra
    return found


def _split(run: Run, loop: str, leaves: dict[str, int], wall: int, unattributed: int, traced_ns: int) -> Breakdown:
    if loop == "train" and _works_beside_host(run):
        found = _split_asynchronous(run, leaves, wall, unattributed)
        if found is not None:
            return found
    whole = _path(_PHASES[loop])
    edges = _edges(run, loop, leaves[whole], traced_ns)
    parts, layers, why = _parts(run, loop, leaves[whole] - edges)
    time = leaves.pop(whole)
    if parts is None:
        return Breakdown({**leaves, STEPS[loop]: time}, wall, unattributed, STEPS[loop], why, ())
    leaves.update({f"{STEPS[loop]}/{name}": ns for name, ns in parts.items() if ns > 0})
    if edges:
        leaves[f"{STEPS[loop]}/edges"] = edges
    return Breakdown(leaves, wall, unattributed, STEPS[loop], None, layers)


_FILLED = 0.5
"""Share of the window's steps from which on kernels, and waits for them, are what steps take their time for."""
_HOST = ("fit/steps", "fit/callbacks", "fit/input")
"""Phases of the host in a training loop, beside which the device works, where steps return before they are done."""


def _works_beside_host(run: Run) -> bool:
    """Whether the engine works on when a step has returned: on MXNet the update does, though outputs are there."""
    engine = registry.under_keras(run.manifest.keras_backend)
    return run.manifest.backend.asynchronous_dispatch or (engine is not None and engine.runs_on)


def _split_asynchronous(run: Run, leaves: dict[str, int], wall: int, unattributed: int) -> Breakdown | None:
    """Split a loop in which the host runs ahead of the device: kernels first, whatever the host did beside them.

    Kernels ran while the host waited for values in callbacks, while it was in the step, and, as far as that is not
    enough, beside the rest; some also beside the script, where it calls the steps itself. None: no window.
    """
    split = step_split.of_run(run)
    if split is None or split.loop != "train":
        return None
    host = {name: leaves.pop(name, 0) for name in _HOST}
    steps = run.table("steps")
    count = pc.sum(steps.filter(pc.equal(steps["loop"].cast(pa.string()), "train"))["count"]).as_py() or 0
    window = {name.replace(" ", "_"): ns or 0 for name, ns in split.window_ns.items()}
    total = sum(host.values())
    beside = _beside_script(run, leaves.get("script", 0))
    kernel_ns = min(_plain_kernels(run, split) * count, total)
    left, apart = kernel_ns, _validation(run)
    for name, most in (("fit/callbacks", _waits(run, host["fit/callbacks"])), *((n, host[n]) for n in _HOST)):
        hidden = max(0, min(left, most, host[name] - (apart if name == "fit/callbacks" else 0)))
        host[name] -= hidden
        left -= hidden
    rest = {name: ns for name, ns in window.items() if name not in ("kernels", "input") and ns}
    parts = shared(host.pop("fit/steps"), rest)
    if beside:
        leaves["script"] -= beside
    layers = _layers(run, kernel_ns + beside, split.window)
    parts.update(_categories(layers))
    leaves.update({name: ns for name, ns in host.items() if ns})
    leaves.update({f"fit/steps/{name}": ns for name, ns in parts.items() if ns > 0})
    lost = total + beside - sum(host.values()) - sum(parts.values())
    if lost:  # kernels without a row: those of input pipelines
        leaves["fit/steps/dispatch"] = leaves.get("fit/steps/dispatch", 0) + lost
    return Breakdown(leaves, wall, unattributed, "fit/steps", None, layers, beside)


def _plain_kernels(run: Run, split: step_split.StepSplit) -> int:
    """Kernels of a plain step (ns): where they fill the window's steps, they take the same share of plain ones.

    Where they do not, it is mostly the host that the tracer, or the end of an epoch in the window, made slower; but the
    profiler of MXNet makes each operator slower. What only callbacks and input made longer is no work of kernels.
    """
    kernels, slowdown = split.window_ns["kernels"] or 0, split.slowdown or 1.0
    if kernels + (split.window_ns["sync"] or 0) < _FILLED * split.window_step_ns:
        slowdown = 1.0 if run.manifest.backend.asynchronous_dispatch else max(1.0, slowdown)
    if slowdown < 1 and split.plain_step_ns:
        steps = run.table("steps")
        rows = steps.filter(pc.equal(steps["loop"].cast(pa.string()), split.loop))
        plain = split.plain_step_ns - _apart(rows) // max(1, rows.num_rows)
        slowdown = min(1.0, max(slowdown, (split.window_step_ns - _mean_outside(run, split)) / max(1, plain)))
    return int(kernels / slowdown)


def _beside_script(run: Run, script_ns: int) -> int:
    """Kernels that ran while the script's own loop made its next batch (ns)."""
    gaps = min(script_ns, own_loop(run)[0])
    share = step_split.between_steps(run) if gaps else None  # reads the kernels again: not for nothing
    return int(share * gaps) if share else 0


def _validation(run: Run) -> int:
    """Time of evaluations that callbacks make (ns): their waits are for their own kernels."""
    spans = run.rows("spans")
    outer = {row["span_id"] for row in spans if row["kind"] == "callbacks"}
    return sum(row["dur_ns"] for row in spans if row["kind"] in ("evaluate", "predict") and row["parent_id"] in outer)


def _waits(run: Run, callbacks_ns: int) -> int:
    """How long callbacks waited for values of the device, by the samples; all of it where nothing was sampled (ns)."""
    found = samples.of_run(run, samples.Phases(run))
    share = samples.waiting_share(found, "fit/callbacks")
    return callbacks_ns if share is None else int(share * callbacks_ns)


def _edges(run: Run, loop: str, phase_ns: int, traced_ns: int) -> int:
    """Time of the phase that no plain step accounts for (ns); 0 where steps return before they are done."""
    if run.manifest.backend.asynchronous_dispatch:
        return 0
    steps = run.table("steps")
    steps = steps.filter(pc.and_(pc.equal(steps["loop"].cast(pa.string()), loop), pc.invert(steps["compiled"])))
    own = pc.sum(steps["dur_ns"]).as_py() or 0
    own -= (pc.sum(steps["callbacks_ns"]).as_py() or 0) if loop == "train" else 0
    return max(0, phase_ns - (own - traced_ns))


Parts = tuple[dict[str, int] | None, tuple[LayerTime, ...], str | None]


def _parts(run: Run, loop: str, time_ns: int) -> Parts:
    """The time of the steps by part; None, and why, where there was no window to measure them in."""
    split = step_split.of_run(run)
    if split is None or split.loop != loop:
        return _by_totals(run, time_ns)
    shares = {name.replace(" ", "_"): ns or 0 for name, ns in split.window_ns.items()}
    _take_phases(shares, _mean_outside(run, split))
    found = shared(time_ns, shares)
    layers = _layers(run, found.pop("kernels", 0), split.window)
    found.update(_categories(layers))
    return found, layers, None


def _mean_outside(run: Run, split: step_split.StepSplit) -> int:
    """What steps of the window spent waiting for their batch and in callbacks: other phases hold that (ns a step)."""
    if split.loop != "train":
        return 0
    window = next(row for row in run.rows("kernel_windows") if row["window"] == split.window)
    steps = run.table("steps")
    start = np.asarray(steps["start_ns"])
    inside = (start >= window["start_ns"]) & (start < window["start_ns"] + window["dur_ns"])
    return _apart(steps.filter(pa.array(inside))) // max(1, split.steps)


def _apart(steps: pa.Table) -> int:
    """Waits of steps for their batch, and their callbacks (ns)."""
    return sum(pc.sum(steps[name]).as_py() or 0 for name in ("input_ns", "callbacks_ns"))


def _take_phases(shares: dict[str, int], outside: int) -> None:
    """Take the host's time in other phases off: first where it was seen, at last where kernels ran beside it."""
    for name in ("input", "host_python", "dispatch", "idle", "sync", "kernels"):
        taken = min(outside, shares.get(name, 0))
        if taken:
            shares[name] -= taken
            outside -= taken


def shared(whole: int, weights: Mapping[str, int]) -> dict[str, int]:
    """`whole` in proportion to `weights`, in whole numbers that sum to it."""
    total = sum(weights.values())
    if not total:
        return {"host_python": whole} if whole else {}
    parts = {name: whole * weight // total for name, weight in weights.items()}
    largest = max(parts, key=lambda name: parts[name])
    parts[largest] += whole - sum(parts.values())
    return parts


def _layers(run: Run, time_ns: int, window: int | None) -> tuple[LayerTime, ...]:
    """Kernel time by layer, direction and operator."""
    found = kernels.summarise(run, "layer", phase=None, kinds=("kernel", "operator"), window=window)
    weights: dict[tuple[str | None, str | None, str | None, str | None], int] = {}
    for row in found.rows:
        keys = row.keys
        if keys.get("layer") == step_split.INPUT_LAYER or keys.get("op") in step_split.PYTHON_OPS:
            continue
        key = keys.get("layer"), keys.get("direction"), keys.get("op"), keys.get("category")
        weights[key] = weights.get(key, 0) + row.total_ns
    numbers = {str(number): weight for number, weight in enumerate(weights.values())}
    parts = shared(time_ns, numbers) if numbers else {}
    return tuple(LayerTime(*key, parts[str(number)]) for number, key in enumerate(weights)) if parts else ()


def _categories(layers: tuple[LayerTime, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in layers:
        name = _part(one.category)
        found[name] = found.get(name, 0) + one.ns
    return found


def _part(category: str | None) -> str:
    return f"kernels/{(category or 'other').replace(' ', '_')}"


def _by_totals(run: Run, time_ns: int) -> Parts:
    """From sums over the whole run (Theano): its executing phases share them as they share the time."""
    totals = run.table("kernel_totals")
    if not totals.num_rows:
        return None, (), _why_unsplit(run)
    executing = {"fit.steps", "fit.validation", "evaluate", "predict"}
    whole = sum(row["dur_ns"] for row in run.rows("phases") if row["phase"] in executing)
    spent = pc.sum(totals["total_ns"]).as_py()
    share = min(1.0, time_ns / whole) if whole else 0.0
    worked = min(time_ns, int(spent * share))
    layers = _layers(run, worked, None)
    return {**_categories(layers), "host_python": time_ns - sum(one.ns for one in layers)}, layers, None


def _why_unsplit(run: Run) -> str:
    probe = next((row for row in run.rows("probes") if row["name"] == "kernels"), None)
    return (probe["reason"] if probe else None) or "no kernel window was traced"
