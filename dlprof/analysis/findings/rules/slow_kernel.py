"""An operator of one run takes longer than what the other run computes the same layer with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlprof.analysis import training, work_pairs
from dlprof.analysis.compare import Comparison
from dlprof.analysis.findings import other_optimisers, pairs, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, Support
from dlprof.analysis.findings.heavy_weights import by_leaf, scaled
from dlprof.analysis.findings.title import Title
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Ground, StepPart
from dlprof.units import duration

TITLE = Title("An operator took longer than in the other run", "an operator that takes longer here")
_LARGER = Title("The model asks for more than in the other run", "a model that asks for more")
_SAME_SIZE = 0.01
"""Models whose numbers of weights differ by less than this share are one and the same, or nearly."""
_Key = tuple[str | None, str | None]
"""Layer and direction."""
_RATIO = 1.3
"""Layers that take less than this much longer are as good as equal."""
_OPERATORS = 4
_NAMED = 3
_SHARE_OF_GAP = 0.02


def look(case: Case) -> Iterator[Claim]:
    """Kernels of the same layer and direction on both sides."""
    if case.against is None:
        raise Abstain("it takes a second run to say that a kernel is slow: dlprof diagnose A B")
    larger = _larger_model(case, is_split=case.against.unsplit is None)
    if larger is not None:
        yield from larger
        return
    if case.against.unsplit is not None:
        raise Abstain(f"kernels were not seen in both runs: {case.against.unsplit}")
    items = _for_equal_work(case)
    optimisers = training.other_optimizers(case.run, case.other.run) if case.other is not None else None
    if optimisers is not None:
        yield from other_optimisers.claims(case, optimisers, items)
        items = [item for item in items if not other_optimisers.is_of_update(item)]
    slower = [item for item in _by_layer(items) if _is_slower(item, case.whole_ns)]
    groups: dict[str, list[LayerItem]] = {}
    for item in sorted(slower, key=lambda item: (item.b_ns or 0) - (item.a_ns or 0)):
        groups.setdefault(item.a_ops[0] if item.a_ops else "", []).append(item)
    for group in list(groups.values())[:_OPERATORS]:
        yield _claim(case, case.against, group)


def _larger_model(case: Case, *, is_split: bool) -> list[Claim] | None:
    """What a model of another size asks of its kernels; None: the models are of one size, as far as that is known.

    Layers of one name are not the same layer then, and which takes longer for as much work is not known.
    """
    mine, theirs = _weights(case), _weights(case.other) if case.other is not None else None
    if mine is None or theirs is None or case.steps is None or abs(mine - theirs) <= _SAME_SIZE * theirs:
        return None
    if mine < theirs:
        raise Abstain(f"the models differ: {mine:,} and {theirs:,} trainable weights")
    takes = case.takes(case.steps)
    if is_split:
        takes = {**case.takes(case.steps / StepPart.KERNELS), **_started_more(case)}
    what = "Kernels, and starting them, take" if is_split else "Its steps take"
    if sum(takes.values()) <= _SHARE_OF_GAP * case.whole_ns:
        return []
    return [
        Claim(
            Sentence(
                f"The models differ: {mine:,} trainable weights beside {theirs:,}. {what}",
                more=True,
            ),
            takes,
            [queries.operators()],
            "If that is not what you compare, give both the same model; whether kernels are slow for what they compute "
            "is told by dlprof kernels RUN --roofline.",
            title=_LARGER,
            support=Support(Ground.COMPARED, seen=case.kernels.seen_steps),
        )
    ]


def _started_more(case: Case) -> dict[TreePath, int]:
    """What starting more operators in each step takes, at the other run's time for each (ns)."""
    if case.other is None or case.steps is None:
        return {}
    mine, others = (sum(_calls(one).values()) for one in (case, case.other))
    more = max(0.0, mine / others - 1) if others else 0.0
    parts = [case.steps / part for part in (StepPart.HOST_PYTHON, StepPart.DISPATCH)]
    return {path: min(case.time(path), int(more * case.other.own(path))) for path in parts if case.time(path) > 0}


def _weights(case: Case) -> int | None:
    """Trainable weights of the model that was trained; None: nobody told them."""
    count = case.training.weights.get("count") if case.training is not None else None
    return int(count) if count else None


def _for_equal_work(case: Case) -> Sequence[LayerItem]:
    """The layers, with the other run's times for as much work as this run has: sums of unequal work tell nothing.

    As many steps, as many calls of operators in each, and as many operations in each layer, where both told them.
    """
    items = case.against.layers if case.against is not None else ()
    mine, others = case.loop, case.other.loop if case.other is not None else None
    steps = mine.count / others.count if mine is not None and others is not None and others.count else 1.0
    more = _more_work(case)
    ratios = [steps * max(1.0, more.get((item.layer, item.direction), 1.0)) for item in items]
    return [
        replace(item, b_ns=int(item.b_ns * ratio) if item.b_ns is not None else None)
        for item, ratio in zip(items, ratios, strict=True)
    ]


def _more_work(case: Case) -> dict[_Key, float]:
    """How much more a step asks of layers than in the other run: operations where both know them, else calls."""
    if case.other is None or case.against is None:
        return {}
    calls, others = _calls(case), _calls(case.other)
    found = {key: count / others[key] for key, count in calls.items() if others.get(key)}
    for item in work_pairs.join(case.against.a, case.against.b).layers:
        if item.a_flops and item.b_flops:
            found[item.layer, item.direction] = item.a_flops / item.b_flops
    return found


def _calls(case: Case) -> dict[_Key, float]:
    """Executions of operators in a traced step, by layer and direction."""
    counts: dict[_Key, float] = {}
    for row in case.kernels.by_layer.work:
        key = row.layer, row.direction
        counts[key] = counts.get(key, 0.0) + row.count / max(1, case.kernels.window_steps)
    return counts


def _by_layer(items: Sequence[LayerItem]) -> list[LayerItem]:
    """Both directions of a layer as one, named by the direction that differs most; kernels of no layer as well."""
    groups: dict[str | None, list[LayerItem]] = {}
    for item in items:
        groups.setdefault(item.layer, []).append(item)
    return [_joined(group) for group in groups.values()]


def _joined(group: Sequence[LayerItem]) -> LayerItem:
    worst = max(group, key=lambda item: (item.a_ns or 0) - (item.b_ns or 0))
    a, b = _times(group)
    return LayerItem(worst.layer, worst.direction, a, b or None, worst.a_ops, worst.b_ops)


def _times(items: Sequence[LayerItem]) -> tuple[int, int]:
    """Time on both sides (ns)."""
    return sum(item.a_ns or 0 for item in items), sum(item.b_ns or 0 for item in items)


def _is_slower(item: LayerItem, gap_ns: int) -> bool:
    a, b = _times([item])
    return a - b > _SHARE_OF_GAP * gap_ns and a > _RATIO * b


def _claim(case: Case, against: Comparison, items: Sequence[LayerItem]) -> Claim:
    """Layers in which the same operator takes most of the time; the worst comes first."""
    layers = list(dict.fromkeys(item.layer for item in items))
    named = ", ".join(_quoted(layer) for layer in layers if layer)
    return Claim(
        Sentence(_text(items, against.b.label)),
        _takes(case, items, layers),
        [queries.operators(f"layer IN ({named})" if named else "layer IS NULL")],
        "Look for another operator that computes the same, a newer engine, or another layout and batch size.",
        title=_title(items, against.b.label),
        support=Support(
            Ground.COMPARED, seen=case.kernels.seen_steps, agree=pairs.had_cores(case), covered=pairs.had_cores(case)
        ),
    )


def _takes(case: Case, items: Sequence[LayerItem], layers: Sequence[str | None]) -> dict[TreePath, int]:
    """What these layers take more, by leaf (ns)."""
    a, b = _times(items)
    takes = by_leaf(case, [kernel for kernel in case.tree.layers if kernel.layer in layers])
    return scaled(takes, (a - b) / (sum(takes.values()) or 1))


def _text(items: Sequence[LayerItem], label: str) -> str:
    worst, (a, b) = items[0], _times(items)
    names = ", ".join(item.layer or "what belongs to no layer" for item in items[:_NAMED])
    more = f" and {len(items) - _NAMED} more layers" if len(items) > _NAMED else ""
    return (
        f"{worst.a_ops[0] if worst.a_ops else 'A kernel'} and what goes with it in {names}{more} takes {duration(a)}, "
        f"{_beside(worst, a, b, label)}, most of all {worst.direction or 'in no known direction'}:"
    )


def _title(items: Sequence[LayerItem], label: str) -> Title:
    operator = items[0].a_ops[0] if items[0].a_ops else "A kernel"
    return Title(f"{operator} took longer than in {label}", f"{operator}, which takes longer than in {label}")


def _beside(worst: LayerItem, a: int, b: int, label: str) -> str:
    """What the other run spends there, and on what."""
    if worst.layer is None:  # what the two runs have outside of layers need not be the same
        return f"where {label} spends {duration(b)} outside of layers"
    ratio = f"{a / b:.1f} x as long as {label}'s" if b else f"and has no counterpart in {label}"
    return f"{ratio} ({', '.join(worst.b_ops)})" if worst.b_ops else ratio


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
