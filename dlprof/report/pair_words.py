"""Memory and work of two sides in words: how far they are apart, and of what kind the difference is."""

from __future__ import annotations

from dlprof.analysis import memory_growth
from dlprof.analysis.memory_pairs import MemoryItem, MemoryPair, MemorySide
from dlprof.analysis.work_pairs import WorkItem, WorkPair
from dlprof.report.roofline_table import scaled
from dlprof.schema.vocabulary import MemoryBasis, WorkCause
from dlprof.units import duration, size

_CAUSES = {
    WorkCause.ALIKE: "alike",
    WorkCause.MORE_WORK: "more work in {slow}",
    WorkCause.LOWER_RATE: "same work, {slow} at a lower rate",
    WorkCause.BOTH: "more work in {slow}, at a lower rate",
}
_ALIKE = 1.05
"""Bytes and operations that differ by less than this factor are alike."""


def memory(pair: MemoryPair) -> str:
    """One sentence: both peaks, and the kind that differs most."""
    a, b = pair.a.peak_bytes, pair.b.peak_bytes
    if a is None or b is None:
        told = [
            f"{name}: {_why_none(side)}" for name, side in (("A", pair.a), ("B", pair.b)) if side.peak_bytes is None
        ]
        return f"The peaks cannot be compared, because one was not measured ({'; '.join(told)})."
    sentence = f"A needed {size(a)} at its largest, B {size(b)}"
    if are_alike(pair):
        return f"{sentence}: alike."
    more = f"{'A' if a > b else 'B'} {max(a, b) / max(1, min(a, b)):.2f} x as much"
    return f"{sentence}: {more}{_most(pair, 1 if a > b else -1)}."


def are_alike(pair: MemoryPair) -> bool:
    """Whether both peaks are known, and hardly differ."""
    a, b = pair.a.peak_bytes, pair.b.peak_bytes
    return a is not None and b is not None and max(a, b) < _ALIKE * max(1, min(a, b))


def _why_none(side: MemorySide) -> str:
    return side.not_measured.get("peak_bytes", "not measured")


def _most(pair: MemoryPair, sign: int) -> str:
    """The kind that differs most in the direction of the whole."""
    known = [item for item in pair.kinds if item.delta_bytes is not None and item.delta_bytes * sign > 0]
    if not known:
        return ""
    most = max(known, key=lambda item: abs(item.delta_bytes or 0))
    about = ", by estimate" if MemoryBasis.ESTIMATE in (most.a_how, most.b_how) else ""
    return f", most of it in {most.name} ({size(abs(most.delta_bytes or 0))} more{about})"


def notes(pair: MemoryPair) -> dict[str, str]:
    """Notes on peaks of phases, by the name of the phase."""
    return {item.name: note for item in pair.phases if (note := traced(pair, item))}


def traced(pair: MemoryPair, item: MemoryItem) -> str:
    """A note on the peak of a phase that is above the peak of its whole side; empty: there is nothing to explain."""
    sides = (("A", pair.a, item.a_bytes), ("B", pair.b, item.b_bytes))
    above = [name for name, side, peak in sides if side.is_traced(peak)]
    return f"{' and '.join(above)} while kernels were traced, which takes memory itself" if above else ""


def signed(item: MemoryItem) -> str:
    """A difference of bytes with its sign; empty: one side is not known."""
    delta = item.delta_bytes
    return "" if delta is None else f"{'+' if delta > 0 else ''}{size(delta)}"


def bytes_of(value: int | None, how: MemoryBasis | None) -> str:
    """Bytes, with `~` where they are an estimate."""
    return f"{'~' if how == MemoryBasis.ESTIMATE and value is not None else ''}{size(value)}"


def growth(side: MemorySide) -> str:
    """How memory went with the steps, in a clause."""
    if side.growth_bytes_per_step is None or side.growth_ci is None:
        return f"not measured, because {side.not_measured.get('growth', 'nothing tells it')}"
    low, high = side.growth_ci
    slope = f"{size(side.growth_bytes_per_step)} a step (95 %: {size(low)} to {size(high)})"
    return f"{slope}: {memory_growth.verdict(side.is_growing, side.growth_ci)}"


def work(pair: WorkPair) -> str:
    """One sentence: whether one side does more work, or the same at a lower rate."""
    if pair.why_not is not None:
        return f"Rates cannot be compared ({pair.why_not})."
    a, b = pair.a_flops or 0.0, pair.b_flops or 0.0
    same = max(a, b) < _ALIKE * min(a, b)
    asked = f"the same {scaled(a, 'FLOP')} of both" if same else f"{scaled(a, 'FLOP')} of A, {scaled(b, 'FLOP')} of B"
    rates = f"{scaled(pair.a_flops_per_s, 'FLOP/s')} in A, {scaled(pair.b_flops_per_s, 'FLOP/s')} in B"
    times = f"{duration(pair.a_ns)} and {duration(pair.b_ns)} a step"
    return (
        f"Layers whose kernels were seen on both sides ask {asked} in a training step, done at {rates} ({times}): "
        f"{_cause(pair, same)}."
    )


def cause(item: WorkItem) -> str:
    """Why a layer takes longer on one side, and on which."""
    return "-" if item.cause is None else _CAUSES[item.cause].format(slow=_slow(item.a_ns, item.b_ns))


def _slow(a_ns: float | None, b_ns: float | None) -> str:
    return "A" if (a_ns or 0) > (b_ns or 0) else "B"


def _cause(pair: WorkPair, same: bool) -> str:
    if pair.cause in (None, WorkCause.ALIKE):
        return "no difference of a fifth"
    slow = _slow(pair.a_ns, pair.b_ns)
    rates = sorted((pair.a_flops_per_s or 0.0, pair.b_flops_per_s or 0.0))
    share = f"{rates[0] / max(1e-9, rates[1]):.2f} of {'B' if slow == 'A' else 'A'}'s rate"
    if pair.cause == WorkCause.MORE_WORK:
        return f"{slow} takes longer because it does more work"
    if pair.cause == WorkCause.BOTH:
        return f"{slow} does more work, and at {share}"
    return f"{slow} takes longer at the same work, at {share}" if same else f"{slow} takes longer, at {share}"
