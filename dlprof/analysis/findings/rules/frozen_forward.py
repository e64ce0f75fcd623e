"""Layers that are not trained give the same for the same data in each epoch: once would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any

from dlprof.analysis.findings import frozen_parts, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Direction, Ground, StepPart

TITLE = Title("Frozen layers computed the same in each epoch", "computing what frozen layers give again in each epoch")
_LEAST = 0.3
"""Share of the traced kernels' time that is in such layers."""
_UNKNOWN_DATA = 0.4
"""How likely it is where a generator or a data set may give other rows each time: a question."""


def look(case: Case) -> Iterator[Claim]:
    """Forward kernels of layers that have none on the way back, where some of these have weights that stay."""
    if case.pair:
        raise Abstain("of two runs frozen layers are not compared")
    if frozen_parts.are_told(case):
        yield from frozen_parts.claims(case)
        return
    layers = case.run.rows("layers")
    frozen = {row["layer"] for row in layers if row["weights"] and not row["trained"]}
    epochs = max(Counter(row["loop_id"] for row in case.run.rows("epochs")).values(), default=0)
    if case.training is not None and not layers:
        raise Abstain("which layers are trained was not recorded, as in loops that are a script's own")
    if not frozen or case.training is None:
        raise Abstain("no model told of layers that are not trained")
    if epochs < 2:
        return
    before, seen = _before_trained(layers), {row["layer"] for row in layers}
    alone, share = _only_forward(case, before)
    is_random = any(name in before or name not in seen for name in case.training.random)
    if not frozen & alone or is_random or share < _LEAST:
        return
    saved = share * (1 - 1 / epochs)
    yield Claim(
        Sentence(
            f"{len(frozen & alone)} layers whose weights stay as they are compute the same for each row in each of "
            f"{epochs} epochs, {100 * share:.0f} % of the kernels' time:"
        ),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=saved),
        [queries.operators()],
        "Compute once what the frozen layers give, and train the others on that.",
        case.training_line,
        basis=Basis.ESTIMATED,
        support=Support(
            Ground.REPEATED,
            seen=epochs * len(frozen & alone),
            agree=1.0 if case.training.data else _UNKNOWN_DATA,
            part=share,
            usual=_LEAST / 2,
        ),
        fix="features = backbone.predict(x), then head.fit(features, y), with a model of the trained layers alone",
    )


def _before_trained(layers: Sequence[Mapping[str, Any]]) -> set[str]:
    """Layers in front of the first one of their model that is trained, in its order: what is behind changes with it."""
    models = groupby(layers, lambda row: row["model"])
    return {row["layer"] for _, rows in models for row in takewhile(lambda row: not row["trained"], rows)}


def _only_forward(case: Case, those: set[str]) -> tuple[set[str], float]:
    """Layers, of these, that were only gone through forward, and their share of the traced kernels' time.

    Trained ones are none of them: their way back may have run under another's name.
    """
    forward: dict[str, int] = {}
    back: set[str] = set()
    whole = 0
    for row in case.kernels.by_layer.work:
        ns = row.total_ns if row.union_ns is None else row.union_ns
        whole += ns
        if row.layer is not None and row.direction == Direction.FORWARD:
            forward[row.layer] = forward.get(row.layer, 0) + ns
        elif row.layer is not None and row.direction == Direction.BACKWARD:
            back.add(row.layer)
    alone = {layer: ns for layer, ns in forward.items() if layer in those - back}
    return set(alone), sum(alone.values()) / whole if whole and back else 0.0
