"""Products that a loop of a graph computes in each of its rounds, though they have the same value in all.

As the keys of an attention: they depend on what was encoded, and a decoder that makes them word by word makes them as
often as there are words. The engine said of which products that is true; how often they ran, the kernels tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import kernels
from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, SpanKind

_TITLE = Title("A product was computed in each round of a loop that is the same in all", "products that never change")
_SHARE_OF_WORK = 0.05
_LEAST_ROUNDS = 2
_PRODUCTS = (Category.MATMUL, Category.CONV)
_EVIDENCE = Query(
    "products that are the same in each round",
    "SELECT name AS node, file, line, count(*) AS graphs FROM spans WHERE kind = 'graph_invariant' GROUP BY ALL",
)
_NEXT = (
    "Compute it once before the loop, and give the loop what came out (of an attention: its projected keys, for all "
    "steps of the decoder). Its gradient is then made once, too."
)


@dataclass(frozen=True)
class _Invariant:
    """A layer that does one.

    Attributes:
        layer: Its name.
        line: The line that asks for it; None: not told.
        rounds: How often it runs in a step.
    """

    layer: str
    line: SourceLine | None
    rounds: float


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, for all such products together."""
    found = _found(case)
    takes = heavy_weights.added(*(_takes(case, one) for one in found))
    if not found or sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    worst = max(found, key=lambda one: sum(_takes(case, one).values()))
    others = f" (and those of {len(found) - 1} more)" if len(found) > 1 else ""
    yield Claim(
        Sentence(
            f"The product of {worst.layer}{others} is computed {worst.rounds:.0f} times in a step, in a loop in which "
            "nothing that it depends on changes; once would do, which saves"
        ),
        takes,
        [_EVIDENCE, queries.operators()],
        _NEXT,
        worst.line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
    )


def _found(case: Case) -> list[_Invariant]:
    """Layers whose products the engine told to be the same, and that ran more than once in a step."""
    calls = case.calls.of(SpanKind.GRAPH_INVARIANT)
    rows = case.kernels.operators.rows if calls and case.tree.unsplit is None else ()
    lines = {call.name: call.line for call in calls}
    found: dict[str, _Invariant] = {}
    for layer in dict.fromkeys(row.layer for row in rows if row.layer is not None):
        line = next((line for node, line in lines.items() if _is_of(node, layer)), None)
        rounds = _rounds(rows, layer, case.kernels.window_steps)
        if rounds >= _LEAST_ROUNDS and any(_is_of(node, layer) for node in lines):
            found[layer] = _Invariant(layer, line, rounds)
    return list(found.values())


def _is_of(node: str, layer: str) -> bool:
    """Whether a node of a loop stands in a layer: the names of both may begin with more than the other's."""
    scope = node.rpartition("/")[0]
    return bool(scope) and (f"/{scope}".endswith(f"/{layer}") or f"/{layer}".endswith(f"/{scope}"))


def _rounds(rows: Sequence[kernels.Row], layer: str, steps: int) -> float:
    """How often the layer's product runs on the way forward, in a step."""
    counts = [
        row.count
        for row in rows
        if row.layer == layer and row.direction == Direction.FORWARD and row.category in _PRODUCTS
    ]
    return max(counts, default=0) / max(1, steps)


def _takes(case: Case, one: _Invariant) -> dict[TreePath, int]:
    """Its kernels and those of its gradient, but for those of one round."""
    mine = heavy_weights.of_layer(case, one.layer, Direction.FORWARD, Direction.BACKWARD)
    return heavy_weights.scaled(mine, 1 - 1 / one.rounds)
