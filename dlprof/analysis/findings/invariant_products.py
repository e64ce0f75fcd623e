"""What was computed is computed again out of the same: products in the rounds of a loop, parts that are called again.

As the keys of an attention: they depend on what was encoded, and a decoder that makes them word by word makes them as
often as there are words. Or a trunk that two heads share, and each runs. Where a loop of a graph does that the graph
tells, else the probe sees a part be called with the very tensor that it had before, and the weights that it had; how
much that takes, the kernels tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import kernels
from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, SpanKind

_IN_ROUNDS = Title(
    "A product was computed in each round of a loop that is the same in all", "products that never change"
)
_CALLED = Title("A part of the model computed the same again", "a part of the model that computes the same again")
_SHARE_OF_WORK = 0.05
_LEAST_ROUNDS = 2
_LEAST_SAME = 0.3
"""Of a part's calls: fewer that are given the same may happen to be."""
_PRODUCTS = (Category.MATMUL, Category.CONV)
_EVIDENCE = Query(
    "what is computed again",
    "SELECT name, detail, file, line, count(*) AS times FROM spans WHERE kind = 'repeated_product' GROUP BY ALL",
)
_NEXT_IN_ROUNDS = (
    "Compute it once before the loop, and give the loop what came out (of an attention: its projected keys, for all "
    "steps of the decoder). Its gradient is then made once, too."
)
_NEXT_CALLED = (
    "Keep what it gave, and use that: compute it once before the loop (of an attention: its projected keys, for all "
    "steps of the decoder), or once for all heads that need it. Its gradient is then made once, too."
)


@dataclass(frozen=True)
class _Again:
    """A layer that does.

    Attributes:
        layer: Its name.
        line: The line that asks for it; None: not told.
        times: How often, in a step.
        needless: Which part of that once would have spared: 0 to 1.
        is_called: Whether it is a part that is called, not a product in a loop of a graph.
    """

    layer: str
    line: SourceLine | None
    times: float
    needless: float
    is_called: bool


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, for all such products together."""
    found = _found(case)
    takes = heavy_weights.added(*(_takes(case, one) for one in found))
    if not found or sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    worst = max(found, key=lambda one: sum(_takes(case, one).values()))
    others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    how = (
        f"{worst.layer}{others} is computed {worst.times:.0f} times in a step, {100 * worst.needless:.0f} % of them "
        "with the tensor and the weights of the time before"
        if worst.is_called
        else f"The product of {worst.layer}{others} is computed {worst.times:.0f} times in a step, in a loop in which "
        "nothing that it depends on changes"
    )
    yield Claim(
        Sentence(f"{how}; once in the place of these saves"),
        takes,
        [_EVIDENCE, queries.operators()],
        _NEXT_CALLED if worst.is_called else _NEXT_IN_ROUNDS,
        worst.line,
        basis=Basis.ESTIMATED,
        title=_CALLED if worst.is_called else _IN_ROUNDS,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
    )


def _found(case: Case) -> list[_Again]:
    """Layers that the engine told, and whose products ran more than once in a step."""
    calls = case.calls.of(SpanKind.REPEATED_PRODUCT)
    rows = case.kernels.operators.rows if calls and case.tree.unsplit is None else ()
    found: dict[str, _Again] = {}
    for layer in dict.fromkeys(row.layer for row in rows if row.layer is not None):
        call = next((call for call in calls if _is_of(call, layer)), None)
        times = _times(rows, layer, case.kernels.window_steps) if call is not None else 0
        if call is None or times < _LEAST_ROUNDS:
            continue
        told = call.detail.get("repeated")
        needless = told["same"] / max(1, told["calls"]) if told else 1 - 1 / times
        if needless >= _LEAST_SAME:
            found[layer] = _Again(layer, call.line, times, needless, is_called=told is not None)
    return list(found.values())


def _is_of(call: Call, layer: str) -> bool:
    """Whether a layer is the part that was called, or one in it; or whether a node of a loop stands in it.

    The names of a node and of a layer may each begin with more than the other's.
    """
    if call.detail.get("repeated"):
        return f"{layer}.".startswith(f"{call.name}.")
    scope = call.name.rpartition("/")[0]
    return bool(scope) and (f"/{scope}".endswith(f"/{layer}") or f"/{layer}".endswith(f"/{scope}"))


def _times(rows: Sequence[kernels.Row], layer: str, steps: int) -> float:
    """How often the layer's product runs on the way forward, in a step."""
    counts = [
        row.count
        for row in rows
        if row.layer == layer and row.direction == Direction.FORWARD and row.category in _PRODUCTS
    ]
    return max(counts, default=0) / max(1, steps)


def _takes(case: Case, one: _Again) -> dict[TreePath, int]:
    """Its kernels and those of its gradient, as far as they are needless."""
    mine = heavy_weights.of_layer(case, one.layer, Direction.FORWARD, Direction.BACKWARD)
    return heavy_weights.scaled(mine, one.needless)
