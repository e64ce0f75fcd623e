"""The gap between two sides, each one run or several repeats, as a waterfall whose items sum to it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.analysis import bootstrap, breakdown, parity, steps
from dlprof.analysis.bootstrap import Floats
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.parity import Parity
from dlprof.errors import UsageError
from dlprof.store.run import Run

RUNS_FOR_INTERVAL = 3
"""Runs that a side needs before an interval can be given."""
_ITEM_SHARE, _ITEM_NS = 0.20, 50_000_000
_GAP_SHARE, _GAP_NS = 0.10, 100_000_000
_STEPS = ("fit/", "evaluate", "predict")
_COMMON_MOST = 1.25
"""More than this is never put down to the machine."""
_COMMON_NS = 50_000_000
"""Leaves of at least this time tell how fast the machine was."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes:
        label: Short name for people.
        runs: Its runs, at least one.
    """

    label: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Item:
    """A leaf of the tree on both sides; means over the runs of a side (ns).

    Attributes:
        path: Such as `fit/steps/kernels/matmul`.
        a_ns, b_ns: Time on each side.
        ci_ns: 95 % interval of the difference; None with fewer than RUNS_FOR_INTERVAL runs on a side.
        noise: Whether the difference is within noise: its interval holds 0, or without intervals it is below 20 %
            of the larger side or below 50 ms, less what the machine's speed explains.
    """

    path: str
    a_ns: int
    b_ns: int
    ci_ns: tuple[int, int] | None
    noise: bool

    @property
    def delta_ns(self) -> int:
        """A less B (ns)."""
        return self.a_ns - self.b_ns


@dataclass(frozen=True)
class LayerItem:
    """Kernels of one layer in one direction on both sides (ns, in all steps); None: not there."""

    layer: str | None
    direction: str | None
    a_ns: int | None
    b_ns: int | None
    a_ops: tuple[str, ...]
    b_ops: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Two sides.

    Attributes:
        a, b: The sides.
        parity: Whether they did the same work.
        a_wall_ns, b_wall_ns: Mean wall time.
        gap_ns: A less B; items and `unattributed_ns` sum to it.
        gap_ci_ns: 95 % interval of the gap, or None.
        noise: Whether the gap is within noise.
        items: Leaves of the tree, those with the largest difference first.
        unattributed_ns: Difference of what is in no phase.
        unsplit: Why the steps could not be compared part by part; None: they could.
        layers: Kernels by layer and direction, the largest difference first.
        a_step_ns, b_step_ns: A steady step; None where there was none, or where steps return before they are done.
        common: By how much everything took longer in A, where both are single runs of the same script and backend:
            then the machine was slower, or busier. 1 in all other comparisons.
    """

    a: Side
    b: Side
    parity: Parity
    a_wall_ns: int
    b_wall_ns: int
    gap_ns: int
    gap_ci_ns: tuple[int, int] | None
    noise: bool
    items: tuple[Item, ...]
    unattributed_ns: int
    unsplit: str | None
    layers: tuple[LayerItem, ...]
    a_step_ns: int | None
    b_step_ns: int | None
    common: float = 1.0


def compare(a: Side, b: Side) -> Comparison:
    """Compare two sides.

    Raises:
        UsageError: A run has no wall time, so that nothing can be compared.
    """
    trees = _trees(a), _trees(b)
    unsplit = next((tree.unsplit for side in trees for tree in side if tree.unsplit), None)
    leaves = tuple([_harmonised(tree, unsplit is not None) for tree in side] for side in trees)
    paths = sorted({path for side in leaves for one in side for path in one})
    tables = tuple(_matrix(side, paths, runs) for side, runs in zip(leaves, trees, strict=True))
    return _result(a, b, paths, tables, trees, unsplit)


def _trees(side: Side) -> list[Breakdown]:
    found = []
    for run in side.runs:
        tree = breakdown.of_run(run) or breakdown.without_phases(run)
        if tree is None:
            raise UsageError(
                f"{run.name} cannot be compared: not even its wall time is known.", hint=f"dlprof report {run.name}"
            )
        found.append(tree)
    return found


def _harmonised(tree: Breakdown, coarse: bool) -> Mapping[str, int]:
    """The leaves, with the steps as one where a run of either side has no parts of them."""
    if not coarse or tree.steps is None:
        return tree.leaves
    whole = tree.time(tree.steps)
    rest = {path: ns for path, ns in tree.leaves.items() if not path.startswith(f"{tree.steps}/")}
    return {**rest, tree.steps: whole}


def _matrix(leaves: Sequence[Mapping[str, int]], paths: Sequence[str], trees: Sequence[Breakdown]) -> Floats:
    """A row per run: its leaves in the order of `paths`, the unattributed, the wall time."""
    return np.asarray(
        [
            [one.get(path, 0) for path in paths] + [tree.unattributed_ns, tree.wall_ns]
            for one, tree in zip(leaves, trees, strict=True)
        ],
        float,
    )


def _result(
    a: Side, b: Side, paths: list[str], tables: tuple[Floats, ...], trees: tuple[list[Breakdown], ...],
    unsplit: str | None,
) -> Comparison:  # fmt: skip
    means = [_whole_means(table) for table in tables]
    intervals = _intervals(tables[0], tables[1])
    common = (
        _common(paths, means[0][:-2], means[1][:-2]) if intervals is None and _are_alike(a.runs[0], b.runs[0]) else 1.0
    )
    items = [
        _item(path, int(means[0][n]), int(means[1][n]), intervals[n] if intervals else None, common)
        for n, path in enumerate(paths)
    ]
    walls = int(means[0][-1]), int(means[1][-1])
    gap_ci = intervals[-1] if intervals else None
    gap = walls[0] - walls[1]
    return Comparison(
        a, b, parity.check(a.runs[0], b.runs[0]), *walls, gap, gap_ci,
        _is_noise(walls[0], int(walls[1] * common), gap_ci, _GAP_SHARE, _GAP_NS),
        tuple(sorted(items, key=lambda item: (-abs(item.delta_ns), item.path))),
        int(means[0][-2] - means[1][-2]), unsplit,
        _layers(a, b, trees) if all(tree.layers for side in trees for tree in side) else (), _step(a), _step(b), common,
    )  # fmt: skip


def _whole_means(table: Floats) -> npt.NDArray[np.int64]:
    """Means in whole ns that still sum to the mean wall time: what rounding leaves goes to the largest leaf."""
    means = np.rint(table.mean(axis=0)).astype(np.int64)
    largest = int(np.argmax(means[:-2])) if len(means) > 2 else 0
    means[largest] += means[-1] - means[:-1].sum()
    return np.asarray(means, np.int64)


def _are_alike(a: Run, b: Run) -> bool:
    """Whether both are of the same script on the same backend, so that their parts may be set against each other."""
    told = [
        (
            run.manifest.command.script,
            run.manifest.backend.name,
            run.manifest.keras_backend,
        )
        for run in (a, b)
    ]
    return told[0] == told[1]


def _common(paths: Sequence[str], a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> float:
    """By how much everything took longer: what both the steps and all the rest have in common, else 1."""
    inside = np.asarray([path.startswith(_STEPS) for path in paths], bool)
    ratios = [_middle(a[rows], b[rows]) for rows in (inside, ~inside)]
    if (ratios[0] - 1) * (ratios[1] - 1) <= 0:
        return 1.0
    nearer = min(ratios, key=lambda ratio: abs(np.log(ratio)))
    return float(np.clip(nearer, 1 / _COMMON_MOST, _COMMON_MOST))


def _middle(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> float:
    """The ratio that half of the time lies above and half below; 1 where there is too little time to tell."""
    known = np.minimum(a, b) >= _COMMON_NS
    if not known.any():
        return 1.0
    ratio, weight = a[known] / b[known], np.minimum(a, b)[known]
    order = np.argsort(ratio)
    return float(ratio[order][np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)])


def _item(path: str, a: int, b: int, ci: tuple[int, int] | None, common: float) -> Item:
    return Item(path, a, b, ci, _is_noise(a, int(b * common), ci, _ITEM_SHARE, _ITEM_NS))


def _is_noise(a: int, b: int, ci: tuple[int, int] | None, share: float, least_ns: int) -> bool:
    if ci is not None:
        return ci[0] <= 0 <= ci[1]
    return abs(a - b) < max(share * max(a, b), least_ns)


def _intervals(a: Floats, b: Floats) -> list[tuple[int, int]] | None:
    """95 % intervals of the differences of means; None: too few runs."""
    if min(len(a), len(b)) < RUNS_FOR_INTERVAL:
        return None
    low, high = bootstrap.difference_of_means(a, b)
    return [(int(x), int(y)) for x, y in zip(low, high, strict=True)]


def _step(side: Side) -> int | None:
    """Median over the runs of their steady step (ns)."""
    found = []
    for run in side.runs:
        if run.manifest.backend.asynchronous_dispatch:
            continue
        loops = steps.summarise(run.table("steps"), run.table("kernel_windows"))
        if loops and loops[0].median_ns is not None:
            found.append(loops[0].median_ns)
    return int(statistics.median(found)) if found else None


def _layers(a: Side, b: Side, trees: tuple[list[Breakdown], ...]) -> tuple[LayerItem, ...]:
    """Kernels by layer and direction; layers that Keras named by itself are joined by their place in the model."""
    renamed = layer_names(a.runs[0], b.runs[0])
    sums = [_by_layer(trees[0], {}), _by_layer(trees[1], renamed)]
    found = []
    for key in {**sums[0], **sums[1]}:
        ops = [one.get(key) for one in sums]
        times = [sum(one.values()) if one is not None else None for one in ops]
        found.append(LayerItem(*key, times[0], times[1], _largest(ops[0] or {}), _largest(ops[1] or {})))
    return tuple(sorted(found, key=lambda item: -abs((item.a_ns or 0) - (item.b_ns or 0))))


Key = tuple[str | None, str | None]


def _by_layer(trees: Sequence[Breakdown], renamed: Mapping[str, str]) -> dict[Key, dict[str, int]]:
    """(layer, direction) to operator to mean time."""
    found: dict[Key, dict[str, int]] = {}
    for tree in trees:
        for one in tree.layers:
            layer = renamed.get(one.layer, one.layer) if one.layer is not None else None
            ops = found.setdefault((layer, one.direction), {})
            name = one.op or one.category or "other"
            ops[name] = ops.get(name, 0) + one.ns // len(trees)
    return found


def _largest(ops: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(ops, key=lambda name: -ops[name])[:3])


def layer_names(a: Run, b: Run) -> dict[str, str]:
    """B's names of layers, and of the optimiser, to A's, where their models are the same layer by layer."""
    facts = [_model(run) for run in (a, b)]
    if any(not fact for fact in facts):
        return {}
    found: dict[str, str] = {}
    optimizers = [(fact.get("optimizer") or {}).get("name") for fact in facts]
    if optimizers[0] and optimizers[1]:
        found[optimizers[1]] = optimizers[0]
    layers = [[one for one in fact.get("layers", ()) if one["class"] != "InputLayer"] for fact in facts]
    if [one["class"] for one in layers[0]] == [one["class"] for one in layers[1]]:
        found.update({two["name"]: one["name"] for one, two in zip(*layers, strict=True)})
    return found


def _model(run: Run) -> dict[str, Any]:
    for row in run.rows("spans"):
        if row["kind"] in ("fit", "on_batch", "predict", "evaluate") and row["detail"]:
            model = json.loads(row["detail"]).get("model")
            if model:
                return model  # type: ignore[no-any-return]
    return {}
