"""The gap between two sides, each one run or several repeats, as a waterfall whose items sum to it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dlprof.analysis import breakdown, doubts, import_pairs, layer_pairs, parity, steps, student
from dlprof.analysis import training as trainings
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.columns import Floats, Integers
from dlprof.analysis.doubts import Doubt
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.analysis.parity import STEPS_TOLERANCE, Parity
from dlprof.errors import UsageError
from dlprof.schema.tree_paths import IN_PARTS, Tree, TreePath
from dlprof.schema.vocabulary import Loop, RunState
from dlprof.store.run import Run

RUNS_FOR_INTERVAL = 3
"""Runs that a side needs before an interval can be given."""
_ITEM_SHARE, _ITEM_NS = 0.20, 50_000_000
_GAP_SHARE, _GAP_NS = 0.10, 100_000_000
_OF_TRACE = 0.01
"""Of foreign traces, which may be short, a part of less than this share of both is noise in place of _ITEM_NS."""
_UNDECIDED = 0.5
"""Where a part of the steps may be off by this share of them, parts tell nothing of the difference of two runs."""
_LOOPS = (Tree.FIT, Tree.EVALUATE, Tree.PREDICT)
_OF_LOOP: Mapping[Loop, tuple[TreePath, ...]] = {
    Loop.TRAIN: (Tree.FIT_STEPS, Tree.FIT_INPUT, Tree.FIT_CALLBACKS, Tree.FIT_WAIT),
    Loop.TEST: (Tree.FIT_VALIDATION, Tree.EVALUATE_STEPS),
    Loop.PREDICT: (Tree.PREDICT_STEPS,),
}
"""Places of the tree whose time is that of the steps of each loop: twice the steps take twice as long there."""
_COMMON_MOST = 1.25
"""More than this is never put down to the machine."""
_COMMON_NS = 50_000_000
"""Leaves of at least this time tell how fast the machine was."""
_Interval = tuple[tuple[int, int], float]
"""A 95 % interval (ns), and the p-value."""


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
class Difference:
    """A part of both sides; means over the runs of a side (ns).

    Attributes:
        a_ns, b_ns: Time on each side.
        ci_ns: 95 % interval of the difference; None with fewer than RUNS_FOR_INTERVAL runs on a side.
        noise: Whether the difference is within noise: its interval holds 0, or without intervals it is below 20 %
            of the larger side or below `Comparison.least_ns`, less what the machine's speed explains, or no larger than
            the traced steps of each side are apart among themselves.
        chance: How likely chance alone makes such a difference (two-sided); None where there is no interval.
    """

    a_ns: int
    b_ns: int
    ci_ns: tuple[int, int] | None
    noise: bool
    chance: float | None = field(default=None, kw_only=True)

    @property
    def delta_ns(self) -> int:
        """A minus B (ns)."""
        return self.a_ns - self.b_ns


@dataclass(frozen=True)
class Item(Difference):
    """A leaf of the tree on both sides, such as `fit/steps/kernels/matmul`.

    Attributes:
        path: Its place.
        more_steps_ns: Of A minus B, what the steps are that A did more, at B's time for each (ns); negative: fewer.
    """

    path: TreePath
    more_steps_ns: int = 0


@dataclass(frozen=True)
class Comparison:
    """Two sides.

    Attributes:
        a, b: The sides.
        parity: Whether they did the same work.
        a_wall_ns, b_wall_ns: Mean wall time.
        gap_ns: A minus B; items and `unattributed_ns` sum to it.
        gap_ci_ns: 95 % interval of the gap, or None.
        noise: Whether the gap is within noise.
        items: Leaves of the tree, those with the largest difference first.
        unattributed_ns: Difference of what is in no phase.
        unsplit: Why the steps could not be compared part by part; None: they could.
        layers: Kernels by layer and direction, the largest difference first.
        a_step_ns, b_step_ns: A steady step, as reports have it (`analysis.steps`); None where that is not known.
        common: By how much everything took longer in A, where both are single runs of the same script and backend:
            then the machine was slower, or busier. 1 in all other comparisons.
        least_ns: Differences of parts below this are noise where there are no intervals (ns).
        doubts: States of the machine that may explain a good part of the gap.
        gap_chance: How likely chance alone makes such a gap; None where there is no interval.
        steps: Loops in which both did steps, and not as many: how many A did, and B.
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
    least_ns: int = _ITEM_NS
    doubts: tuple[Doubt, ...] = ()
    gap_chance: float | None = None
    steps: Mapping[Loop, tuple[int, int]] = field(default_factory=dict)

    @property
    def common_is_least(self) -> bool:
        """Whether everything may have taken longer than `common` says, on the side that it calls slower."""
        return max(self.common, 1 / self.common) > _COMMON_MOST * 0.999

    def longer_ns(self, item: Item) -> int:
        """What a part takes longer in A beside as much work: without more steps, and the machine; 0: noise (ns)."""
        longer = min(item.delta_ns, item.a_ns - int(self.common * item.b_ns))
        if item.more_steps_ns <= 0:
            return longer
        alike = int(self.common * (item.b_ns + item.more_steps_ns))
        return 0 if _is_noise(item.a_ns, alike, None, _ITEM_SHARE, self.least_ns) else max(0, item.a_ns - alike)

    @property
    def longer_in_a(self) -> tuple[Item, ...]:
        """Parts that take longer in A beyond noise, whatever the whole does; the largest difference first."""
        return tuple(item for item in self.items if item.delta_ns > 0 and not item.noise)

    @property
    def longer_in_b(self) -> tuple[Item, ...]:
        """The same of B."""
        return tuple(item for item in self.items if item.delta_ns < 0 and not item.noise)


def compare(a: Side, b: Side) -> Comparison:
    """Compare two sides.

    Raises:
        UsageError: A run has no wall time, so that nothing can be compared.
    """
    trees = _trees(a), _trees(b)
    undecided = next((why for tree in (*trees[0], *trees[1]) if (why := _undecided(tree))), None)
    unsplit = next((tree.unsplit for tree in (*trees[0], *trees[1]) if tree.unsplit), undecided)
    leaves = [[_harmonised(tree, unsplit is not None) for tree in side] for side in trees]
    if len({tree.steps == Tree.TRACE for side in trees for tree in side}) > 1:
        leaves = [[_as_one_stretch(of_tree) for of_tree in side] for side in leaves]
    paths = sorted({path for side in leaves for tree in side for path in tree})
    tables = [_Times.of(side, paths, of_side) for side, of_side in zip(leaves, trees, strict=True)]
    counts = _unequal_steps(a, b)
    ratios = np.asarray([_more_often(path, counts) for path in paths])
    common = _common(paths, tables[0], tables[1], ratios) if _are_alike(a, b) else 1.0
    intervals = _intervals(*tables)
    gap_ci, gap_chance = intervals[-1] if intervals else (None, None)
    walls = tables[0].wall, tables[1].wall
    least = _least_ns(a, b, walls)
    items = [
        _item(path, (tables[0].leaves[n], tables[1].leaves[n]), intervals[n] if intervals else None, common, least)
        for n, path in enumerate(paths)
    ]
    if intervals is None:
        items = [_seen_to_differ(item, *trees, common) for item in items]
    items = with_more_steps(items, counts, by_part=have_one_engine(a, b))
    items = [_unless_explained(item, a, b, least) for item in items]
    gap_ns = walls[0] - walls[1]
    noise = _is_noise(walls[0], int(walls[1] * common), gap_ci, _GAP_SHARE, least * _GAP_NS // _ITEM_NS)
    return Comparison(
        a=a,
        b=b,
        parity=parity.check(a.runs[0], b.runs[0]),
        a_wall_ns=walls[0],
        b_wall_ns=walls[1],
        gap_ns=gap_ns,
        gap_ci_ns=gap_ci,
        noise=noise,
        items=tuple(sorted(items, key=lambda item: (-abs(item.delta_ns), item.path))),
        unattributed_ns=tables[0].unattributed - tables[1].unattributed,
        unsplit=unsplit,
        layers=() if undecided else _layers(a, b, *trees),
        a_step_ns=_step(a),
        b_step_ns=_step(b),
        common=common,
        least_ns=least,
        doubts=doubts_of(a, b, gap_ns, noise=noise),
        gap_chance=gap_chance,
        steps=counts,
    )


def doubts_of(a: Side, b: Side, gap_ns: int, *, noise: bool) -> tuple[Doubt, ...]:
    """What the machine may have done to the gap, by the run of each side that is in the middle of its wall times."""
    return doubts.of_pair(_typical(a), _typical(b), gap_ns, noise=noise)


def _typical(side: Side) -> Run:
    return sorted(side.runs, key=lambda run: run.wall_ns or 0)[len(side.runs) // 2]


def _trees(side: Side) -> list[Breakdown]:
    found = []
    for run in side.runs:
        run.require("phases", "steps", "kernel_ops", "kernel_events", "kernel_windows")
        tree = breakdown.of_run(run) or breakdown.without_phases(run)
        if tree is None:
            raise UsageError(
                f"{run.name} cannot be compared, because {_no_wall_time(run)}.", hint=f"dlprof report {run.typed}"
            )
        found.append(tree)
    return found


def _no_wall_time(run: Run) -> str:
    imported = run.manifest.state == RunState.IMPORTED
    return breakdown.why_none(run) if imported else "not even its wall time is known"


def _harmonised(tree: Breakdown, coarse: bool) -> Mapping[TreePath, int]:
    """The leaves, with the steps as one where a run of either side has no parts of them."""
    steps = tree.steps
    if not coarse or steps is None:
        return tree.leaves
    rest = {path: ns for path, ns in tree.leaves.items() if path == steps or not steps.holds(path)}
    return {**rest, steps: tree.time(steps)}


def _as_one_stretch(leaves: Mapping[TreePath, int]) -> Mapping[TreePath, int]:
    """The leaves without the places of steps, where a foreign trace has none: it may only not name them."""
    found: dict[TreePath, int] = {}
    for path, ns in leaves.items():
        root = next((root for root in IN_PARTS if root.holds(path)), None)
        whole = path if root is None else TreePath(f"{Tree.TRACE}{path.removeprefix(root)}")
        found[whole] = found.get(whole, 0) + ns
    return found


@dataclass(frozen=True)
class _Times:
    """Times of one side's runs.

    Attributes:
        each: Shape (runs, leaves + 2): the leaves, the unattributed, the wall time (ns).
        leaves: Means over the runs, in whole ns; with `unattributed` they sum to `wall`.
    """

    each: Floats
    leaves: Integers
    unattributed: int
    wall: int

    @classmethod
    def of(
        cls, leaves: Sequence[Mapping[TreePath, int]], paths: Sequence[TreePath], trees: Sequence[Breakdown]
    ) -> _Times:
        """Of some runs: the leaves of each, and its tree."""
        rows = zip(leaves, trees, strict=True)
        each = [[*(times.get(path, 0) for path in paths), tree.unattributed_ns, tree.wall_ns] for times, tree in rows]
        table = np.asarray(each, float)
        means = np.rint(table.mean(axis=0)).astype(np.int64)
        # What rounding leaves goes to the largest leaf.
        largest = int(np.argmax(means[:-2])) if paths else 0
        means[largest] += means[-1] - means[:-1].sum()
        return cls(table, means[:-2], int(means[-2]), int(means[-1]))


def _are_alike(a: Side, b: Side) -> bool:
    """Whether both are a few runs of one script on one backend, whose parts together tell how fast the machine was."""
    if min(len(a.runs), len(b.runs)) >= RUNS_FOR_INTERVAL:
        return False
    alike = a.runs[0].manifest.command.script == b.runs[0].manifest.command.script and have_one_engine(a, b)
    return alike and _ask_for_as_much(a.runs[0], b.runs[0])


def _ask_for_as_much(a: Run, b: Run) -> bool:
    """Whether a step of both is as much work, as far as was told: else that it takes longer tells of no machine."""
    one, two = trainings.of_run(a), trainings.of_run(b)
    if one is None or two is None:
        return True
    told = [(one.weights.get(name), two.weights.get(name)) for name in ("count", "dtype")]
    return all(x == y or None in (x, y) for x, y in (*told, (one.batch_size, two.batch_size)))


def have_one_engine(a: Side, b: Side) -> bool:
    """Whether a step of both consists of parts that mean the same."""
    one, two = a.runs[0].manifest, b.runs[0].manifest
    return (one.backend.name, one.keras_backend) == (two.backend.name, two.keras_backend)


def _unequal_steps(a: Side, b: Side) -> dict[Loop, tuple[int, int]]:
    """Loops in which both sides did steps, and not as many: how many each did, by its first run.

    None where their batches are of unequal size: the same data are more steps of smaller batches then.
    """
    one, two = (trainings.of_run(side.runs[0]) for side in (a, b))
    sizes = (one.batch_size, two.batch_size) if one is not None and two is not None else (None, None)
    if sizes[0] != sizes[1] and None not in sizes:
        return {}
    mine, other = ({found.loop: found.count for found in steps.of_run(side.runs[0])} for side in (a, b))
    both = {loop: (mine[loop], other[loop]) for loop in _OF_LOOP if mine.get(loop) and other.get(loop)}
    return {loop: counts for loop, counts in both.items() if abs(counts[0] - counts[1]) > STEPS_TOLERANCE * max(counts)}


def _more_often(path: TreePath, counts: Mapping[Loop, tuple[int, int]]) -> float:
    """How often A did what is done at a place of the tree for one time that B did it, as far as steps tell."""
    for loop, (a, b) in counts.items():
        if any(place.holds(path) for place in _OF_LOOP[loop]):
            return a / b
    return 1.0


def with_more_steps(items: Sequence[Item], counts: Mapping[Loop, tuple[int, int]], *, by_part: bool) -> list[Item]:
    """The items with what A's further steps take of each, at B's time for a step.

    Args:
        items: Leaves of the tree on both sides.
        counts: Steps of each loop that A did, and B, where these are not as many.
        by_part: Whether a step of both consists of the same parts. Else what B spends in parts that A hardly has is in
            those that A has more of: engines name the same work otherwise.
    """
    a, b = (np.asarray(times, float) for times in ([item.a_ns for item in items], [item.b_ns for item in items]))
    ratios = np.asarray([_more_often(item.path, counts) for item in items], float)
    each, often = b * (ratios - 1), ratios > 1
    if not by_part and often.any():
        more = np.where(often, np.maximum(0, a - b), 0)
        fitting = np.minimum(each, more)
        left, room = (each - fitting)[often].sum(), more - np.where(often, fitting, 0)
        each = np.where(often, fitting + room * min(1.0, left / max(1, room.sum())), each)
    return [replace(item, more_steps_ns=int(ns)) for item, ns in zip(items, each, strict=True)]


def _common(paths: Sequence[TreePath], a: _Times, b: _Times, ratios_of_steps: Floats) -> float:
    """By how much everything took longer: what both the steps and all the rest have in common, else 1."""
    inside = np.asarray([any(loop.holds(path) for loop in _LOOPS) for path in paths], bool)
    alike = np.rint(b.leaves * ratios_of_steps).astype(np.int64)
    ratios = [_middle(a.leaves[rows], alike[rows]) for rows in (inside, ~inside)]
    if (ratios[0] - 1) * (ratios[1] - 1) <= 0:
        return 1.0
    nearer = min(ratios, key=lambda ratio: abs(np.log(ratio)))
    return float(np.clip(nearer, 1 / _COMMON_MOST, _COMMON_MOST))


def _middle(a: Integers, b: Integers) -> float:
    """The ratio that half of the time lies above and half below; 1 where there is too little time to tell."""
    known = np.minimum(a, b) >= _COMMON_NS
    if not known.any():
        return 1.0
    ratio, weight = a[known] / b[known], np.minimum(a, b)[known]
    order = np.argsort(ratio)
    return float(ratio[order][np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)])


def _least_ns(a: Side, b: Side, walls: tuple[int, int]) -> int:
    """Below which differences of parts are noise (ns)."""
    imported = all(run.manifest.state == RunState.IMPORTED for side in (a, b) for run in side.runs)
    return min(_ITEM_NS, int(_OF_TRACE * min(walls))) if imported else _ITEM_NS


def _item(path: TreePath, times: tuple[int, int], interval: _Interval | None, common: float, least_ns: int) -> Item:
    a, b = int(times[0]), int(times[1])
    ci, chance = interval or (None, None)
    return Item(a, b, ci, _is_noise(a, int(b * common), ci, _ITEM_SHARE, least_ns), path, chance=chance)


def _unless_explained(item: Item, a: Side, b: Side, least_ns: int) -> Item:
    """A part that is no noise where a module which one side alone imports explains its difference."""
    if item.path != Tree.IMPORT or not item.noise or item.ci_ns is not None:
        return item
    explained = import_pairs.explain(a.runs[0], b.runs[0], item.delta_ns, least_ns)
    return replace(item, noise=False) if explained else item


def _undecided(tree: Breakdown) -> str | None:
    """Why its traced steps do not tell what the others consist of; None: they do."""
    most = _UNDECIDED * tree.time(tree.steps) if tree.steps is not None else 0
    if all(high - low <= most for low, high in tree.bounds.values()):
        return None
    return "the few steps that were traced differ too much from each other to tell what the others consist of"


def _seen_to_differ(item: Item, a: Sequence[Breakdown], b: Sequence[Breakdown], common: float) -> Item:
    """The item; noise also where the sides differ no more than their traced steps do among themselves."""
    low, high = _bounds(item.path, item.a_ns, a)
    other_low, other_high = _bounds(item.path, item.b_ns, b)
    apart = low > common * other_high or high < common * other_low
    return item if item.noise or apart else replace(item, noise=True)


def _bounds(path: TreePath, ns: int, trees: Sequence[Breakdown]) -> tuple[int, int]:
    """Between which times a leaf of a side may lie (ns)."""
    known = [tree.bounds[path] for tree in trees if path in tree.bounds]
    return min([ns, *(low for low, _ in known)]), max([ns, *(high for _, high in known)])


def _is_noise(a: int, b: int, ci: tuple[int, int] | None, share: float, least_ns: int) -> bool:
    if ci is not None:
        return ci[0] <= 0 <= ci[1]
    return bool(abs(a - b) < max(share * max(a, b), least_ns))


def _intervals(a: _Times, b: _Times) -> list[_Interval] | None:
    """95 % intervals of the differences of means, and their p-values; None: too few runs."""
    if min(len(a.each), len(b.each)) < RUNS_FOR_INTERVAL:
        return None
    found = zip(*student.difference_of_means(a.each, b.each), strict=True)
    return [((int(low), int(high)), float(chance)) for low, high, chance in found]


def _step(side: Side) -> int | None:
    """Median over the runs of their steady step (ns)."""
    medians = []
    for run in side.runs:
        medians += [loop.median_ns for loop in steps.of_run(run)[:1] if loop.median_ns is not None]
    return int(statistics.median(medians)) if medians else None


def _layers(a: Side, b: Side, of_a: Sequence[Breakdown], of_b: Sequence[Breakdown]) -> tuple[LayerItem, ...]:
    """The kernels by layer, where every run has them."""
    if not all(tree.layers for tree in (*of_a, *of_b)):
        return ()
    return layer_pairs.join(of_a, of_b, layer_pairs.names(a.runs[0], b.runs[0]))
