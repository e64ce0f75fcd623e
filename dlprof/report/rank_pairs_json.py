"""Two runs of ranks as one JSON object (`dlprof.compare-ranks/1`). Times are ns; A - B is above 0 where A is longer."""

from __future__ import annotations

from msgspec import Struct

from dlprof.analysis.rank_pairs import RankPair, RanksComparison, RanksSide
from dlprof.report import rank_pairs_words
from dlprof.report.ranks_json import StragglerReport, straggler

SCHEMA = "dlprof.compare-ranks/1"


class RanksSideReport(Struct, frozen=True, kw_only=True):
    """A run of ranks."""

    label: str
    run: str
    ranks: int
    step_ns: int | None
    """Mean over the ranks of their median plain train steps; null: not known of all."""
    skew_ns: int | None
    straggler: StragglerReport | None


class RankPairReport(Struct, frozen=True, kw_only=True):
    """A rank in both; of a plain train step, null: not known."""

    rank: int
    a_ns: int | None
    b_ns: int | None
    delta_ns: int | None
    a_own_ns: int | None
    """What it did itself: all but standing still in collectives."""
    b_own_ns: int | None
    own_delta_ns: int | None
    a_input_ns: int | None
    b_input_ns: int | None


class PartPairReport(Struct, frozen=True, kw_only=True):
    """A part of a step in both, as means of the ranks."""

    name: str
    """input: waiting for batches; wait: for ranks that come later to a collective; transfer: for collectives that all
    had come to; work: the rest."""
    a_ns: int
    b_ns: int
    delta_ns: int


class RanksComparisonReport(Struct, frozen=True, kw_only=True):
    """All that the text of two runs of ranks says."""

    schema: str = SCHEMA
    verdict: str
    a: RanksSideReport
    b: RanksSideReport
    comparable: bool
    why_not: tuple[str, ...]
    differences: tuple[str, ...]
    """What else differs, and may be what is compared."""
    delta_ns: int | None
    within_noise: bool
    """Whether the steps differ by less than two runs of the same may (10 %)."""
    parts: tuple[PartPairReport, ...]
    """Of the mean step: they sum to it; empty: not known."""
    most_changed: int | None
    """The rank whose own work differs most, beyond noise; null: there is none, or nothing tells."""
    ranks: tuple[RankPairReport, ...]


def as_json(compared: RanksComparison) -> RanksComparisonReport:
    """Two runs of ranks, for machines."""
    changed = compared.most_changed
    return RanksComparisonReport(
        verdict=rank_pairs_words.verdict(compared),
        a=_side(compared.a, compared.a_step_ns),
        b=_side(compared.b, compared.b_step_ns),
        comparable=not compared.why_not,
        why_not=compared.why_not,
        differences=compared.differences,
        delta_ns=compared.delta_ns,
        within_noise=compared.is_noise,
        parts=tuple(
            PartPairReport(name=one.name, a_ns=one.a_ns, b_ns=one.b_ns, delta_ns=one.delta_ns) for one in compared.parts
        ),
        most_changed=changed.rank if changed is not None else None,
        ranks=tuple(_pair(one) for one in compared.ranks),
    )


def _side(side: RanksSide, step_ns: int | None) -> RanksSideReport:
    return RanksSideReport(
        label=side.label,
        run=side.ranked.name,
        ranks=len(side.summary.ranks),
        step_ns=step_ns,
        skew_ns=side.summary.skew_ns,
        straggler=straggler(side.summary.straggler),
    )


def _pair(one: RankPair) -> RankPairReport:
    return RankPairReport(**{name: getattr(one, name) for name in RankPairReport.__struct_fields__})
