"""Layers that compare each input with each of their vectors number by number, with no product of matrices.

Radial basis functions and prototypes are written so: differences of all pairs, their squares, and the sum over the
features. The array of all pairs and features is made several times, forward and backward; squared distances are a
product of matrices and two sums of squares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground

TITLE = Title(
    "All pairs were compared number by number, where a product would do", "comparing all pairs without a product"
)
ADVICE = (
    "Squared distances are a product and two sums of squares, and so are cosines: no array of all pairs and all "
    "numbers is made then. Sums of absolute differences are not; of these make fewer pairs."
)
_SHARE_OF_WORK = 0.10
_SAVES = 0.8
"""A product takes a few hundredths; sums of squares, and what is done with the distances, stay."""
_OF_PRODUCTS = 0.05
"""Share of the layer's kernels that products may have: more, and it is a product with something around it."""
_MATRIX = 2
_PAIRS = re.compile(r"expand_dims\(|newaxis|\[[^\]]*\bNone\b[^\]]*\]|unsqueeze\(")
"""What a line has that gives an array one more axis, so that each row of it meets each of another."""


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, for the layer that takes most."""
    if case.tree.unsplit is not None:
        return
    found = [
        (heavy_weights.of_layer(case, row["layer"], Direction.FORWARD, Direction.BACKWARD), row, pairs)
        for row in case.run.rows("layers")
        if (pairs := _pairs(row)) is not None and not _multiplies(case, row["layer"])
    ]
    if not found:
        return
    takes, row, (features, vectors) = max(found, key=lambda one: sum(one[0].values()))
    if sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    yield Claim(
        Sentence(
            f"{row['layer']} compares {features:,} numbers of each input with those of each of {vectors:,} vectors, "
            "one by one and with no product of matrices; that takes"
        ),
        heavy_weights.scaled(takes, _SAVES),
        [queries.LAYERS, queries.operators(by="layer, op")],
        ADVICE,
        _line(case, row["class"]),
        title=TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps),
        fix="|x|^2 - 2 x @ w + |w|^2 for the squared distances of rows x and columns w",
    )


def _line(case: Case, class_name: str) -> SourceLine | None:
    """Where its class makes the array of all pairs; else its first line. A graph runs it: no sample tells."""
    begins = re.compile(rf"^\s*class\s+{re.escape(class_name)}\b")
    for file in sorted(case.code.user_files):
        lines = list(enumerate(case.code.lines(file), 1))
        first = next((number for number, text in lines if begins.match(text)), None)
        if first is not None:
            found = (number for number, text in lines[first:] if _PAIRS.search(text))
            return file, next(found, first)
    return None


def _pairs(row: Mapping[str, Any]) -> tuple[int, int] | None:
    """(features, vectors) of a layer whose only matrix could be multiplied with its input; None: it has none such.

    A matrix of an element-wise layer has the shape of the input: where both are square that cannot be told apart.
    """
    matrices = [heavy_weights.lengths(shape) for shape in row["weights"] or () if "x" in shape]
    given, made = heavy_weights.of_each(heavy_weights.only(row["inputs"])), heavy_weights.of_each(row["output"])
    if len(matrices) != 1 or not matrices[0] or len(matrices[0]) != _MATRIX or not given or not made:
        return None
    features, vectors = given[-1], made[-1]
    is_square = features == vectors and len(given) > 1
    return (features, vectors) if sorted(matrices[0]) == sorted((features, vectors)) and not is_square else None


def _multiplies(case: Case, layer: str) -> bool:
    """Whether there are products among its kernels that count."""
    own = [kernel for kernel in case.tree.layers if kernel.layer == layer]
    products = sum(kernel.ns for kernel in own if kernel.category in (Category.MATMUL, Category.CONV))
    return products > _OF_PRODUCTS * sum(kernel.ns for kernel in own)
