"""Convolutions whose gradients take far longer than they do themselves: twice is what they compute.

Libraries have fast kernels for what models usually ask for. Long filters, few channels, dilation, or a third dimension
may have none for the way back: of a filter of 800 taps on PyTorch it took six times as long as the way there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.kernels import Row
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, StepPart

_TITLE = Title("Gradients of a convolution took far longer than it", "gradients of a convolution")
_USUAL = 2.5
"""Times as long as the convolution: one product for its input and one for its filter, and a little more."""
_FAR = 4.5
"""From here on it is another kernel, not only more work. Of 150 runs of other problems convolutions took 3.3 times and
less, but on TensorFlow 5.5 to 10, with oneDNN and without."""
_FAR_OF = {"tensorflow": 12.0, "tensorflow1": 12.0}
"""The same of engines whose kernels for gradients are slower anyhow: nothing of the script's makes them so."""
_AS_OFTEN = 1.5
_SHARE = 0.4
"""Share of the kernels' time that these gradients have."""
_WRITTEN = r"\bconv(_?transpose)?[123]d\(|\bconvolution\(|\bconv_general_dilated\(|\bConvolution\("
_ADVICE = (
    "See whether another form of it has a fast kernel: a filter of many taps over few channels is cheaper by FFT (its "
    "product with what it filters, after rfft); dilation, groups, double or half precision, and three dimensions may "
    "have slow kernels for the way back on a processor, where a product of unfolded patches or a few smaller "
    "convolutions are faster."
)


def claims(case: Case) -> Iterator[Claim]:
    """One, a question, where a layer's gradients, or those of what no layer calls, have much of the kernels' time."""
    found = case.kernels.by_layer
    ways: dict[str | None, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for row in found.rows:
        if row.category == Category.CONV and row.direction in (Direction.FORWARD, Direction.BACKWARD):
            ways[row.layer][row.direction == Direction.BACKWARD].append(row)
    far = _FAR_OF.get(case.engine.name, _FAR)
    slow = {layer: (_sum(there), _sum(back)) for layer, (there, back) in ways.items() if _is_slow(there, back, far)}
    if not slow:
        return
    there, back = (sum(ns[way] for ns in slow.values()) for way in (0, 1))
    part = back / max(1, found.all_ns)
    if part < _SHARE:
        return
    named = sorted(layer for layer in slow if layer)
    of = f"{', '.join(named[:3])}{' and more' if len(named) > 3 else ''}" if named else "a convolution of no layer"
    yield Claim(
        Sentence(
            f"Gradients of {of} take {back / there:.0f} times as long as the way there, where twice is usual, and have "
            f"{100 * part:.0f} % of the kernels' time:"
        ),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=(back - _USUAL * there) / max(1, found.all_ns)),
        [queries.operators()],
        _ADVICE,
        _line(case),
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=0.5),
    )


def _is_slow(there: Sequence[Row], back: Sequence[Row], far: float) -> bool:
    """Whether the way back takes far longer, and is gone as often: several losses that go back are another cause."""
    if not there or not back or not 0 < far * _sum(there) <= _sum(back):
        return False
    first, last = (max(rows, key=lambda row: row.total_ns) for rows in (there, back))
    return last.count <= _AS_OFTEN * first.count


def _sum(rows: Sequence[Row]) -> int:
    return sum(row.total_ns for row in rows)


def _line(case: Case) -> SourceLine | None:
    """Where a convolution is written as a function; else the line that asked for the steps' work longest."""
    return case.code.written(_WRITTEN) or case.code.hottest_line([Tree.FIT_STEPS], main=True)
