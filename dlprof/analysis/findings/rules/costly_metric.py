"""Metrics of the training take about as long as what is trained."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import heavy_weights, one_hot_targets, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Direction, Ground, PseudoLayer

TITLE = Title("Metrics took a large part of the steps", "metrics that are computed in each step")
_SHARE_OF_STEPS = 0.15
"""Mean values and accuracies take a few hundredths."""
_SAVES = 0.9
_THRESHOLDS = r"\bthresholds\s*="
_ACCURACY = re.compile(r"['\"](categorical_)?acc(uracy)?['\"]|CategoricalAccuracy\(")
"""A metric that has a counterpart for the numbers of classes, which Keras takes by itself."""
_WRITTEN = (r"\bmetrics\.[A-Z]\w*\(", r"\b(weighted_)?metrics\s*=")
"""What another line has that asks for them, the likeliest first."""


@of_the_slower
def look(case: Case) -> Iterator[Claim]:
    """Kernels that work for a metric, where these were told from the model's."""
    if case.tree.unsplit is not None:
        raise Abstain(f"the steps are not split: {case.tree.unsplit}")
    takes = kernels(case)
    if not takes:
        return
    share = sum(takes.values()) / max(1, case.own(Tree.FIT_STEPS))
    listed = case.code.written(_THRESHOLDS)
    line = listed or next((one for pattern in _WRITTEN if (one := case.code.written(pattern))), None)
    is_accuracy = line is not None and _ACCURACY.search(case.code.source(*line)) is not None
    targets = one_hot_targets.said(case) if is_accuracy and not listed else None
    how = f"{targets} " if targets else _OF_THRESHOLDS if listed else ""
    yield Claim(
        Sentence(f"What the metrics compute has {100 * share:.0f} % of the steps:"),
        heavy_weights.scaled(takes, _SAVES),
        [queries.operators(by="layer, op")],
        f"{how}Compute it once an epoch, on what is validated, or every so many steps; what "
        "the loss tells needs no metric beside it.",
        line or case.training_line,
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps, part=share, usual=_SHARE_OF_STEPS / 3),
        fix=_FIX if listed else one_hot_targets.FIX if targets else None,
    )


def kernels(case: Case) -> dict[TreePath, int]:
    """Kernels that work for a metric, where they have much of the steps, by leaf (ns)."""
    takes = heavy_weights.of_layer(case, PseudoLayer.METRICS, Direction.FORWARD)
    return takes if sum(takes.values()) >= _SHARE_OF_STEPS * max(1, case.own(Tree.FIT_STEPS)) else {}


_OF_THRESHOLDS = (
    "A metric with a list of thresholds compares each output with each of them; those that are evenly spaced "
    "(num_thresholds) are counted in one pass. "
)
_FIX = "num_thresholds=... in place of thresholds=[...], or fewer of them"
