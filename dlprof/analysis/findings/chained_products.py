"""Products of matrices whose result is multiplied again, where the array between them is what takes long.

Attention without a softmax is written so: `(q k) v` makes an array of all pairs of positions, `q (k v)` a small one.
The sizes are in no record. That the array between is large shows in what is done to each of its numbers: where
multiplying it by a factor takes as long as a good part of the products, these have little to compute for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dlprof.analysis import source_products
from dlprof.analysis.findings import heavy_weights, new_pages, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.layer_times import LayerTime
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground

_TITLE = Title("A product was multiplied again in the costly order", "products of matrices in the costly order")
_SHARE = 0.15
"""Of the steps, from which on it is a cause."""
_LARGE, _MAY_BE_LARGE = 0.25, 0.05
"""Of the time of the products what factors take from which on the array between them is large, or may be."""
_SAVES = 0.9
_LIKELY = 0.9
_BY_PAGES = 0.6
"""Where new memory tells that some array is large: it may be another one."""
_MAYBE = 0.4
_FACTORS = re.compile(r"(^|::|/)(true_?)?(div|mul|scale|multiply|real_?div|_?div_?scalar|_?mul_?scalar)", re.IGNORECASE)
_PRODUCTS = r"\b(batch_dot|baddbmm|bmm|einsum|matmul|mm|scaled_dot_product_attention)\(|\s@\s"
"""What a line has that multiplies matrices."""


@dataclass(frozen=True)
class Chained:
    """A product of a product that takes much of the steps.

    Attributes:
        line: The one of both lines that stood longer.
        kernels: Both products, and factors between them, by leaf (ns).
        agree: How much speaks for a large array between them: 0 to 1.
    """

    line: SourceLine
    kernels: Mapping[TreePath, int]
    agree: float


def of_case(case: Case) -> Chained | None:
    """The one that stood longest; None: there is none that takes much, or nothing tells that its array is large."""
    if case.pair or case.tree.unsplit is not None:
        return None
    some = [one for one in case.tree.layers if one.category == Category.MATMUL or _is_factor(one)]
    if _SAVES * sum(one.ns for one in some) < _SHARE * case.own(Tree.FIT_STEPS):
        return None  # before the source is read
    chain = _longest(case)
    if chain is None:
        return None
    mine = _of_layer(case, chain, some)
    products = heavy_weights.by_leaf(case, [one for one in mine if one.category == Category.MATMUL])
    factors = heavy_weights.by_leaf(case, [one for one in mine if one.category != Category.MATMUL])
    kernels = heavy_weights.scaled(heavy_weights.added(products, factors), _share(case, chain, mine))
    if _SAVES * sum(kernels.values()) < _SHARE * case.own(Tree.FIT_STEPS):
        return None
    agree = _agree(case, products, factors)
    return Chained(max(chain.lines, key=case.code.stood_ns), kernels, agree) if agree else None


def _agree(case: Case, products: Mapping[TreePath, int], factors: Mapping[TreePath, int]) -> float:
    """How much speaks for a large array between products: what factors take of their time, or new memory."""
    share = sum(factors.values()) / max(1, sum(products.values()))
    if share >= _LARGE:
        return _LIKELY
    if new_pages.of_kernels_ns(case, products):
        return _BY_PAGES
    return _MAYBE if share >= _MAY_BE_LARGE else 0.0


def claims(case: Case) -> Iterator[Claim]:
    """One, for the products of the chain that stood longest."""
    found = of_case(case)
    if found is None:
        return
    yield Claim(
        Sentence(
            "A product of two arrays is multiplied by a third, and the array between them "
            f"{'may be' if found.agree < _BY_PAGES else 'is'} large; both products, and what is done between them, take"
        ),
        heavy_weights.scaled(dict(found.kernels), _SAVES),
        [queries.operators()],
        "With nothing but factors between them the order of two products is free: multiply the other two first, "
        "q @ (k @ v) in place of (q @ k) @ v, where what these give is smaller than the array of all pairs.",
        found.line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps, agree=found.agree),
        fix="the product of the other two arrays first",
    )


class _Chain(NamedTuple):
    lines: tuple[SourceLine, SourceLine]
    owner: str | None


def _longest(case: Case) -> _Chain | None:
    """The chain that stood longest, of compiled ones the first; None: there is none."""
    chains = (
        _Chain(((file, one.inner), (file, one.outer)), one.owner)
        for file in sorted(case.code.user_files)
        for one in source_products.chains(case.code.lines(file))
    )
    return max(chains, key=lambda chain: sum(map(case.code.stood_ns, set(chain.lines))), default=None)


def _of_layer(case: Case, chain: _Chain, kernels: Sequence[LayerTime]) -> Sequence[LayerTime]:
    """Those that may be the chain's: of the layers of its class, where it is in a layer."""
    layers = {row["layer"] for row in case.run.rows("layers") if row["class"] == chain.owner}
    return [one for one in kernels if one.layer in layers] if layers else kernels


def _share(case: Case, chain: _Chain, kernels: Sequence[LayerTime]) -> float:
    """Share of these kernels that is the chain's.

    An engine that runs operators one by one is as long in its lines as it runs them on the way forward. Of compiled
    ones it is the share of lines that multiply matrices which is in the chain.
    """
    lines = {*case.code.places(_PRODUCTS), *chain.lines}
    if not _in_steps(case, lines):
        return len(set(chain.lines)) / len(lines)
    forward = sum(one.ns for one in kernels if one.direction == Direction.FORWARD)
    return min(1.0, _in_steps(case, chain.lines) / max(1, forward))


def _in_steps(case: Case, lines: Collection[SourceLine]) -> float:
    """For how long some lines of the script's stood in the steps (ns)."""

    def stands(sample: Sample) -> bool:
        frame = case.code.user_frame(sample)
        return frame is not None and (frame.file, frame.line) in lines

    return case.code.share([Tree.FIT_STEPS], stands) * case.own(Tree.FIT_STEPS)


def _is_factor(kernel: LayerTime) -> bool:
    return kernel.category == Category.ELEMENTWISE and _FACTORS.search(kernel.op or "") is not None
