"""A layer does far more than it has to: it is given whole maps, flattened, or multiplies what could be looked up."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import all_pairs, enlarged, flattened_maps, heavy_weights, new_pages, one_hot, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("One huge layer was given whole maps, flattened", "one huge layer")
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
    maps = flattened_maps.found(case, weights)
    if maps is None:
        return
    pages = int((1 - 1 / maps.positions) * new_pages.of_weights_ns(case, weights))
    anew = ", in memory that is new each time," if pages else ""
    yield Claim(
        Sentence(
            f"{weights.text} holds {100 * weights.share:.0f} % of the weights, because it is given {maps.positions} "
            f"positions of its maps side by side; its products and its update{anew} take"
        ),
        new_pages.beside_kernels(case, case.steps, maps.kernels, pages),
        [_OWNERS, queries.operators(), *([new_pages.SAMPLES] if pages else [])],
        "Make the maps smaller before they are flattened: pool over their positions (global average pooling), or use "
        "strides; then the layer has as many inputs as there are channels.",
        case.code.line_like(r"\bFlatten\(|\.flatten\(|\.view\(|\.reshape\("),
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=maps.share),
    )
