"""Weights that are computed out of others whenever a layer looks at them, several times in one step.

An orthogonal, normalised or otherwise constrained matrix is a function of the numbers that are trained. These change
once a step; a layer that is called at each of many points in time has the matrix computed, and its gradient, at each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import kernels
from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Direction, Ground, StepPart

_TITLE = Title("A weight was computed several times in each step", "a weight that is computed again and again")
_SHARE_OF_WORK = 0.05
_OF_LAYER = 0.05
"""Operators with less of what it takes to compute the weight may be of a part that is skipped at times."""
_HOST = (Tree.FIT_STEPS / StepPart.HOST_PYTHON, Tree.FIT_STEPS / StepPart.DISPATCH)


@dataclass(frozen=True)
class _Weight:
    """A weight that is computed.

    Attributes:
        name: As the layer is called that computes it.
        times: How often, in a step.
        count: Operators that this takes, in all windows.
    """

    name: str
    times: float
    count: int


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, for all such weights together."""
    computed = case.engine.computed_weights
    if computed is None or case.tree.unsplit is not None:
        return
    rows = case.kernels.operators.rows
    weights = _weights(rows, computed.layer, case.kernels.window_steps)
    takes = heavy_weights.added(*(_takes(case, weight) for weight in weights), _starting(case, weights, rows))
    if not weights or sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    worst = max(weights, key=lambda weight: weight.count)
    others = f" (and {len(weights) - 1} more)" if len(weights) > 1 else ""
    yield Claim(
        Sentence(
            f"{worst.name}{others} is computed {worst.times:.0f} times in a step, though what it is computed of "
            "changes once:"
        ),
        takes,
        [queries.operators(by="layer, op")],
        "Have it computed once in each step, and used by all calls of the layer.",
        case.code.hottest_line(
            [Tree.FIT_STEPS], lambda sample: any(frame.file.startswith(computed.files) for frame in sample.frames)
        ),
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.REPEATED, seen=case.kernels.seen_steps),
        fix=computed.once,
    )


def _weights(rows: Sequence[kernels.Row], part: str, steps: int) -> list[_Weight]:
    """Those that are computed more than once in a step.

    Args:
        rows: Operators of the windows, by layer.
        part: What the names of layers have that compute a weight.
        steps: Steps in the windows.
    """
    found = []
    for name in dict.fromkeys(row.layer for row in rows if row.layer is not None and part in row.layer):
        mine = [row for row in rows if row.layer == name]
        forward = [row for row in mine if row.direction == Direction.FORWARD]
        least_ns = _OF_LAYER * sum(row.total_ns for row in forward)
        times = min((row.count for row in forward if row.total_ns >= least_ns), default=0) / max(1, steps)
        if times > 1:
            found.append(_Weight(name, times, sum(row.count for row in mine)))
    return found


def _takes(case: Case, weight: _Weight) -> dict[TreePath, int]:
    """Its kernels, but for those of one time."""
    kernels_of = heavy_weights.of_layer(case, weight.name, Direction.FORWARD, Direction.BACKWARD)
    return heavy_weights.scaled(kernels_of, 1 - 1 / weight.times)


def _starting(case: Case, weights: Sequence[_Weight], rows: Sequence[kernels.Row]) -> dict[TreePath, int]:
    """What starting these operators takes of the steps: the same for each operator."""
    needless = sum(weight.count * (1 - 1 / weight.times) for weight in weights)
    return case.takes(*_HOST, share=needless / max(1, sum(row.count for row in rows)))
