"""Of two runs with other optimisers: what the updates of one take more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.heavy_weights import by_leaf, scaled
from dlprof.analysis.findings.title import Title
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.schema.vocabulary import Direction, Ground
from dlprof.units import duration

_TITLE = Title("The optimiser's updates took longer than those of another", "the updates of another optimiser")
_SHARE_OF_GAP = 0.02
_ADVICE = (
    "Another optimiser does other work: compare runs with the same one. If this one is wanted, see whether it can "
    "update all weights at once: fused=True or foreach=True in PyTorch, one compiled function elsewhere."
)


def is_of_update(item: LayerItem) -> bool:
    """Whether these kernels update weights."""
    return item.direction == Direction.UPDATE


def claims(case: Case, names: tuple[str, str], items: Sequence[LayerItem]) -> Iterator[Claim]:
    """One, where the updates of this run's optimiser take a good part of the gap more.

    Args:
        case: The run, and the other one.
        names: The classes of both optimisers.
        items: Kernels of both sides by layer, of as many steps.
    """
    updates = [item for item in items if is_of_update(item)]
    a_ns, b_ns = (sum(getattr(item, name) or 0 for item in updates) for name in ("a_ns", "b_ns"))
    if a_ns - b_ns <= _SHARE_OF_GAP * case.whole_ns:
        return
    takes = by_leaf(case, [kernel for kernel in case.tree.layers if kernel.direction == Direction.UPDATE])
    yield Claim(
        Sentence(
            f"The updates of {names[0]} take {duration(a_ns)}, those of {names[1]} in the other run {duration(b_ns)}:"
        ),
        scaled(takes, (a_ns - b_ns) / (sum(takes.values()) or 1)),
        [queries.operators("direction = 'update'")],
        _ADVICE,
        case.code.line_like(rf"\b{names[0]}\("),
        title=_TITLE,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
    )
