"""Maps that are enlarged before a product that goes point by point: the product of the small ones gives the same.

A convolution with a kernel of one point, or a dense layer over the last axis, mixes channels and looks at no neighbour.
Enlarging by repeated or interpolated points mixes neighbours and no channels. The order makes no difference to what
comes out, but to how many points are multiplied.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Direction, Ground

_TITLE = Title("Maps were enlarged before a product that could come first", "a product of enlarged maps")
_SHARE_OF_WORK = 0.10
_LEAST_TIMES = 2
"""So many times as many points, at least."""
_NAMED = 3
"""Of the other ones, those that take most."""
_PADDING = "ZeroPadding"
"""Zeros are no points of the maps: behind a product they would be its bias."""
_Shape = tuple[int, ...]


@dataclass(frozen=True)
class _Product:
    """A layer that multiplies points with a matrix, behind one that made more of them.

    Attributes:
        layer: Its name.
        enlarging: That of the layer before.
        given, made: Shapes before and behind the one that enlarges, without the batch.
        channels: The matrix: of how many channels, and to how many.
        times: So many times as many points.
        takes: What its kernels take of points that need not be there, by leaf (ns).
    """

    layer: str
    enlarging: str
    given: _Shape
    made: _Shape
    channels: tuple[int, int]
    times: int
    takes: dict[TreePath, int]

    @property
    def sum_ns(self) -> int:
        return sum(self.takes.values())


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One for all of them; the product that takes most is told."""
    if case.tree.unsplit is not None:
        return
    found = sorted(_products(case), key=lambda one: -one.sum_ns)
    if not found or sum(one.sum_ns for one in found) < _SHARE_OF_WORK * case.whole_ns:
        return
    largest, *others = found
    yield Claim(
        Sentence(f"{_of(largest)}; {_with_all(others)} takes"),
        heavy_weights.added(*(one.takes for one in found)),
        [queries.LAYERS],
        "Multiply first and enlarge what comes out: where points are repeated the numbers are the same, and where they "
        "are interpolated, too, if the activation comes last.",
        case.code.line_like(r"\b(UpSampling|Resizing|Upsample|resize|interpolate|repeat|RepeatVector)\w*\("),
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
        fix=f"{largest.layer}, then {largest.enlarging}",
    )


def _of(product: _Product) -> str:
    from_, to = product.channels
    given, made = map(heavy_weights.text_of, (product.given, product.made))
    return (
        f"{product.layer} multiplies {from_:,} channels to {to:,}, point by point, behind {product.enlarging}, which "
        f"made {product.times} points of each ({given} to {made})"
    )


def _with_all(others: Sequence[_Product]) -> str:
    if not others:
        return "that it multiplies all of these"
    named = ", ".join(f"{one.layer} behind {one.enlarging}" for one in others[:_NAMED])
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f"so do {named}{more}; that they multiply all of these"


def _products(case: Case) -> Iterator[_Product]:
    """Layers that multiply points, of inputs that an enlarging layer gave.

    Which layer is behind which is not told: it is the one before in the order of the model, or the only one of that
    shape.
    """
    rows = case.run.rows("layers")
    makers = Counter((row["model"], row["output"]) for row in rows)
    known: dict[tuple[int | None, str | None], tuple[str, _Shape, _Shape]] = {}
    before = None
    for row in rows:
        place, channels = (row["model"], heavy_weights.only(row["inputs"])), _channels(row)
        found = known.get(place)
        if found is not None and channels is not None and (before == found[0] or makers[place] == 1):
            _, small, large = found
            if channels[0] in [large[axis] for axis in (0, -1) if small[axis] == large[axis]]:
                takes = heavy_weights.of_layer(case, row["layer"], Direction.FORWARD, Direction.BACKWARD)
                times = math.prod(large) // math.prod(small)
                yield _Product(row["layer"], *found, channels, times, heavy_weights.scaled(takes, 1 - 1 / times))
        given, made = heavy_weights.of_each(heavy_weights.only(row["inputs"])), heavy_weights.of_each(row["output"])
        if given and made and not row["weights"] and _enlarges(given, made) and not row["class"].startswith(_PADDING):
            known[row["model"], row["output"]] = (row["layer"], given, made)
        before = row["layer"]


def _enlarges(given: _Shape, made: _Shape) -> bool:
    """Whether each length is a multiple of what it was, one of them stays, and there are more points by far."""
    if len(given) != len(made) or not all(given):
        return False
    whole = all(new % old == 0 for old, new in zip(given, made, strict=True))
    return (
        whole and (given[0] == made[0] or given[-1] == made[-1]) and math.prod(made) >= _LEAST_TIMES * math.prod(given)
    )


def _channels(row: Mapping[str, Any]) -> tuple[int, int] | None:
    """The matrix by which a layer multiplies each point; None: it looks at neighbours, or multiplies nothing.

    `1x1x64x128` of a convolution, `64x128` of a dense layer; one that has several, as recurrent layers do, is neither.
    """
    matrices = [heavy_weights.lengths(shape) for shape in row["weights"] or () if "x" in shape]
    if len(matrices) != 1 or matrices[0] is None:
        return None
    *points, from_, to = matrices[0]
    return (from_, to) if math.prod(points) == 1 else None
