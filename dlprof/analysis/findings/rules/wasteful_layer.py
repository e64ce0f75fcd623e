"""A layer does far more than it has to: it is given whole maps, flattened, or multiplies what could be looked up."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dlprof.analysis.findings import all_pairs, enlarged, heavy_weights, one_hot, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.heavy_weights import Weights
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Basis, Direction, Ground

TITLE = Title("One huge layer was given whole maps, flattened", "one huge layer")
_SHARE_OF_WEIGHTS = 0.8
_LARGE = 1_000_000
_FEATURES = 4096
"""A layer that is given fewer numbers has been given little."""
_POSITIONS = 16
"""Positions of the maps that were flattened, at least: pooling them leaves one each."""
_SHARE_OF_WORK = 0.10
_SHARE_OF_STEPS = 0.40
"""Below that it is one layer among others: many networks end so, and are content with it."""
_OF_CONVOLUTION = 4
"""Axes of the weights of a convolution over images."""
_OWNERS = Query(
    "the largest arrays of weights",
    "SELECT layer, name, shape, bytes FROM memory_owners WHERE kind = 'parameters' ORDER BY bytes DESC LIMIT 4",
)


def look(case: Case) -> Iterator[Claim]:
    """Products with one-hot arrays or of enlarged maps, pairs without one; else a layer that is given whole maps."""
    found = [*one_hot.claims(case), *enlarged.claims(case), *all_pairs.claims(case)]
    yield from found or _of_maps(case)


@of_the_slower
def _of_maps(case: Case) -> Iterator[Claim]:
    """Kernels of that layer, and its part of the update."""
    weights = heavy_weights.largest(case)
    if weights is None:
        raise Abstain("no shapes of weights were told")
    if case.steps is None or case.tree.unsplit is not None:
        raise Abstain(f"the steps are not split: {case.tree.unsplit or 'there are none'}")
    positions = _positions(case, weights)
    if positions is None or positions < _POSITIONS or weights.share < _SHARE_OF_WEIGHTS or weights.count < _LARGE:
        return
    own = heavy_weights.of_layer(case, weights.layer, Direction.FORWARD, Direction.BACKWARD)
    updates = heavy_weights.scaled(heavy_weights.updates(case), weights.share)
    takes = heavy_weights.scaled(heavy_weights.added(own, updates), 1 - 1 / positions)
    share = sum(takes.values()) / max(1, case.own(case.steps))
    if sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns or share < _SHARE_OF_STEPS:
        return
    yield Claim(
        Sentence(
            f"{weights.text} holds {100 * weights.share:.0f} % of the weights, because it is given {positions} "
            "positions of its maps side by side; its products and its update take"
        ),
        takes,
        [_OWNERS, queries.operators()],
        "Make the maps smaller before they are flattened: pool over their positions (global average pooling), or use "
        "strides; then the layer has as many inputs as there are channels.",
        case.code.line_like(r"\bFlatten\(|\.flatten\(|\.view\(|\.reshape\("),
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=min(1.0, share)),
    )


def _positions(case: Case, weights: Weights) -> int | None:
    """How many positions of maps are flattened into the layer; None: it is not given maps, as far as is known."""
    if len(weights.shape) != 2:
        return None
    flattened = [row for row in case.run.rows("layers") if row["class"] == "Flatten" and row["inputs"]]
    for row in flattened:
        lengths = row["inputs"][0].split("x")[1:]
        given = [int(one) for one in lengths if one.isdigit()]
        whole = math.prod(given)
        if len(given) == len(lengths) >= 3 and whole in weights.shape and whole >= _FEATURES:
            return whole // _channels(case, given)
    if flattened or case.run.rows("layers"):
        return None
    return _of_convolutions(case, weights)


def _of_convolutions(case: Case, weights: Weights) -> int | None:
    """Where no graph of layers is known: inputs of the layer, by channels of the convolutions that fit into them."""
    features = max(weights.shape)
    channels = {shape[0] for shape in heavy_weights.shapes(case) if len(shape) == _OF_CONVOLUTION}
    fits = [features // one for one in channels if features % one == 0]
    return min(fits) if fits and features >= _FEATURES else None


def _channels(case: Case, lengths: list[int]) -> int:
    """The axis of the channels of maps: as Keras was told, the first or the last."""
    told = case.training.settings.get("layout") if case.training else None
    return lengths[0] if told == "channels_first" else lengths[-1]
