"""Convolutions that no layer makes and no gradient goes through: filters that are given, not learned.

A response of a room, a blur, a wavelet. Long ones are cheap by Fourier transforms: with PyTorch on one core (8 rows of
32,000 and 32 of 8,000 numbers) transforms were faster from 128 taps on where one filter serves all rows and from 512 on
where each has its own, 3 and 31 times at 1,024 taps, 12 and 123 times at 4,096. No trace tells how long one is.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, StepPart
from dlprof.units import duration

_TITLE = Title("A filter that is not learned took much of the steps", "a filter that is not learned")
_SHARE = 0.20
"""Share of the steps from which on it is worth a question."""
_OF_GRADIENT = 0.1
"""A gradient takes twice as long as its convolution; what takes less than this of it is of another, small one."""
_SAVES = 0.9
"""At a guess: a transform took a twelfth of a convolution of 4,096 taps, and a third of one of 1,024."""
_LIKELY = 0.8
"""Where the line says what it is, but not how long."""
_WRITTEN = r"\bconv[123]d\(|\bconvolution\(|\bconvolve\(|\bConvolution\(|\bdepthwise_conv"
_CONV = Tree.FIT_STEPS / StepPart.KERNELS / Category.CONV
_ADVICE = (
    "Where the filter is long (some hundred taps), multiply transforms: irfft(rfft(x, n) * rfft(filter, n), n), n a "
    "power of two no shorter than both together. One of two axes that is a product of two rows (a Gaussian) takes a "
    "pass along each; and what gives the same in each epoch is filtered once, before the training."
)
_FIX = {
    "torch": "torchaudio.functional.fftconvolve(x, filter), or torch.fft.rfft and irfft",
    "tensorflow": "tf.signal.irfft(tf.signal.rfft(x, [n]) * tf.signal.rfft(filter, [n]), [n])",
}


def claims(case: Case) -> Iterator[Claim]:
    """One, a question, where layers are told, and such convolutions have much of the steps."""
    rows = [row for row in case.kernels.operators.rows if row.category == Category.CONV and row.on_host]
    mine = [row for row in rows if row.layer is None and row.direction == Direction.FORWARD]
    back = [row for row in rows if row.layer is None and row.direction == Direction.BACKWARD]
    has_gradient = sum(row.total_ns for row in back) > _OF_GRADIENT * sum(row.total_ns for row in mine)
    if case.pair or not mine or has_gradient or all(row.layer is None for row in case.kernels.operators.rows):
        return
    share = sum(row.total_ns for row in mine) / max(1, sum(row.total_ns for row in rows))
    if share * case.time(_CONV) < _SHARE * max(1, case.own(Tree.FIT_STEPS)):
        return
    line = max(case.code.places(_WRITTEN), key=case.code.stood_ns, default=None)
    if line is None:
        return
    each_ns = sum(row.total_ns for row in mine) // max(1, case.kernels.window_steps)
    yield Claim(
        Sentence(
            f"A convolution that no layer makes, and through which no gradient goes, takes {duration(each_ns)} of a "
            "step:"
        ),
        case.takes(_CONV, share=_SAVES * share),
        [queries.operators("category = 'conv'")],
        _ADVICE,
        line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=_LIKELY),
        fix=_FIX.get(case.engine.name),
    )
