"""One-hot arrays that a layer multiplies with its weights: that only picks rows of them, which can be looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Basis, Direction, Ground

TITLE = Title("A one-hot array was multiplied to pick rows", "multiplying a one-hot array")
MAKES = re.compile(r"one_?hot", re.IGNORECASE)
"""Operators that make such an array."""
_SHARE_OF_WORK = 0.10
_MATRIX = 2


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, for the layer whose product takes most: its kernels, and those that make the array."""
    if case.tree.unsplit is not None:
        return
    makers = {row.layer for row in case.kernels.operators.rows if row.layer and MAKES.search(row.op or "")}
    lengths = {_last(row["output"]) for row in case.run.rows("layers") if row["layer"] in makers} - {None}
    lengths |= set(case.training.one_hot if case.training else ())
    making = [heavy_weights.of_layer(case, layer, Direction.FORWARD) for layer in sorted(makers)]
    found = []
    for row in case.run.rows("layers"):
        shape = _multiplied(row)
        if shape is not None and shape[0] in lengths:
            product = heavy_weights.of_layer(case, row["layer"], Direction.FORWARD, Direction.BACKWARD)
            found.append((heavy_weights.added(product, *making), row["layer"], shape))
    takes, layer, shape = max(found, key=lambda one: sum(one[0].values()), default=({}, "", (0, 0)))
    if sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    text = f"{shape[0]:,} x {shape[1]:,}"
    yield Claim(
        Sentence(
            f"{layer} multiplies a one-hot array of {shape[0]:,} columns with its weights ({text}), which only picks a "
            "row of them for each; to make it and to multiply it takes"
        ),
        takes,
        [queries.LAYERS, queries.operators(by="layer, op")],
        f"Give the numbers themselves to an Embedding layer of the same weights ({text}): it looks the rows up.",
        case.code.line_like(r"(?i)one_?hot\(|to_categorical\(|LabelBinarizer|np\.eye\("),
        title=TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
        fix=f"layers.Embedding({shape[0]}, {shape[1]}) in place of one_hot and the product"
        if case.run.manifest.keras is not None
        else None,
    )


def _last(shape: str | None) -> int | None:
    """The last length of a shape that is told as `64x12x6000`; None: not known."""
    text = (shape or "").rpartition("x")[2]
    return int(text) if text.isdigit() else None


def _multiplied(row: Mapping[str, Any]) -> tuple[int, int] | None:
    """The matrix by which a layer multiplies the last axis of its input; None: it has none, or looks rows up."""
    lengths = [int(one) if one.isdigit() else 0 for one in (row["weights"] or [""])[0].split("x")]
    given = _last((row["inputs"] or [None])[0])
    if len(lengths) != _MATRIX or not all(lengths) or given != lengths[0]:
        return None
    return lengths[0], lengths[1]
