"""Products of three arrays or more in one `einsum` that takes them from left to right.

The order makes no difference to what comes out, and often a large one to the work: `(q k) v` of linear attention makes
an array of all pairs of positions, `q (k v)` a small one. Some libraries look for the best order by themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlprof.analysis import source_loops
from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

_TITLE = Title("One einsum multiplied several arrays from left to right", "an einsum of several arrays")
_SHARE = 0.15
"""Of the steps, from which on it is a cause."""
_SAVES = 0.8
_LIKELY = 0.6
"""The sizes are not told: the order from the left may be the best one."""
_FEWEST = 3
_PRODUCTS = r"\b(einsum|bmm|baddbmm|matmul|scaled_dot_product_attention|MultiheadAttention)\(|\s@\s"
"""What a line has that multiplies many matrices at once."""


def claims(case: Case) -> Iterator[Claim]:
    """One, where such a call is what the steps' products of many matrices at once come from."""
    einsum = case.engine.einsum
    if einsum is None or case.pair or einsum.ordered_by in case.run.manifest.packages:
        return
    lines = [line for file in sorted(case.code.user_files) for line in _lines(file, case.code.lines(file))]
    takes = heavy_weights.scaled(heavy_weights.of_operators(case, einsum.operators), _SAVES * _share(case, lines))
    if not lines or sum(takes.values()) < _SHARE * case.own(Tree.FIT_STEPS):
        return
    yield Claim(
        Sentence("An einsum multiplies its arrays in the order in which they are written; these products take"),
        takes,
        [queries.operators()],
        "Two products in another order may be far less work: first those whose result is small. "
        f"{case.engine.title} finds the best order where {einsum.ordered_by} is installed.",
        max(lines, key=case.code.stood_ns),
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps, agree=_LIKELY),
        fix=f"pip install {einsum.ordered_by}, or two einsums: first the product whose result is small",
    )


def _share(case: Case, lines: Sequence[SourceLine]) -> float:
    """Share of the time in lines that multiply many matrices at once which is in some of them."""
    mine = sum(case.code.stood_ns(line) for line in lines)
    others = sum(case.code.stood_ns(line) for line in case.code.places(_PRODUCTS) if line not in lines)
    return mine / max(1, mine + others)


def _lines(file: str, texts: Sequence[str]) -> Iterator[SourceLine]:
    """Where a file has an `einsum` of three arrays or more; none in a text that is no Python."""
    for node in ast.walk(source_loops.parsed(texts) or ast.Module([], [])):
        if isinstance(node, ast.Call) and _is_of_several(node):
            yield file, node.lineno


def _is_of_several(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    if name != "einsum" or not call.args or not isinstance(call.args[0], ast.Constant):
        return False
    equation = call.args[0].value
    return isinstance(equation, str) and equation.partition("->")[0].count(",") + 1 >= _FEWEST
