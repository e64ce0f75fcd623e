"""Two runs of ranks beside each other: the step of each rank, where the difference is, and who held the others up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

from dlprof.analysis import parity, ranks
from dlprof.analysis.parity import Parity
from dlprof.analysis.ranks import RanksSummary, RankTimes
from dlprof.store.ranked import RankedRun

NOISE_SHARE = 0.10
"""With one run on each side a difference below this share of the longer step is called noise."""
_PARTS = ("input", "wait", "transfer")
WORK = "work"
"""What is left of a step when its other parts are taken out."""


@dataclass(frozen=True)
class RanksSide:
    """A run of ranks with its figures."""

    label: str
    ranked: RankedRun
    summary: RanksSummary


@dataclass(frozen=True)
class RankPair:
    """A rank in both runs; times are of a plain train step (ns), None: not known, or there is no such rank.

    Attributes:
        rank: Which.
        a_ns, b_ns: Its median step.
        a_own_ns, b_own_ns: Of that what it did itself: all but standing still in collectives.
        a_input_ns, b_input_ns: Of that its wait for its batch.
    """

    rank: int
    a_ns: int | None
    b_ns: int | None
    a_own_ns: int | None
    b_own_ns: int | None
    a_input_ns: int | None
    b_input_ns: int | None

    @property
    def delta_ns(self) -> int | None:
        """How much longer its step is in A (ns)."""
        return None if self.a_ns is None or self.b_ns is None else self.a_ns - self.b_ns

    @property
    def own_delta_ns(self) -> int | None:
        """How much more it does itself in A (ns)."""
        return None if self.a_own_ns is None or self.b_own_ns is None else self.a_own_ns - self.b_own_ns

    @property
    def input_delta_ns(self) -> int | None:
        """How much longer it waits for its batch in A (ns)."""
        return None if self.a_input_ns is None or self.b_input_ns is None else self.a_input_ns - self.b_input_ns


@dataclass(frozen=True)
class PartPair:
    """A part of a step in both runs, as means of the ranks (ns)."""

    name: str
    a_ns: int
    b_ns: int

    @property
    def delta_ns(self) -> int:
        """How much longer it is in A (ns)."""
        return self.a_ns - self.b_ns


@dataclass(frozen=True)
class RanksComparison:
    """Two runs of ranks.

    Attributes:
        a, b: The sides.
        ranks: All ranks that one of them has, by number.
        a_step_ns, b_step_ns: Mean over the ranks of their median steps (ns); None: not known.
        parts: What these consist of; they sum to them. Empty: not known in both.
        why_not: Why the runs cannot be compared; empty: they can.
        differences: What else differs, and may be what is compared.
    """

    a: RanksSide
    b: RanksSide
    ranks: tuple[RankPair, ...]
    a_step_ns: int | None
    b_step_ns: int | None
    parts: tuple[PartPair, ...]
    why_not: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def delta_ns(self) -> int | None:
        """How much longer a step is in A (ns)."""
        return None if self.a_step_ns is None or self.b_step_ns is None else self.a_step_ns - self.b_step_ns

    @property
    def is_noise(self) -> bool:
        """Whether the steps differ by less than two runs of the same may."""
        if self.a_step_ns is None or self.b_step_ns is None:
            return True
        return abs(self.a_step_ns - self.b_step_ns) < NOISE_SHARE * max(self.a_step_ns, self.b_step_ns)

    @property
    def most_changed(self) -> RankPair | None:
        """The rank whose own work differs most, beyond noise, in the direction of the step; None: there is none."""
        delta = self.delta_ns
        if delta is None or self.is_noise:
            return None
        sign = 1 if delta > 0 else -1
        known = [(sign * own, one) for one in self.ranks if (own := one.own_delta_ns) is not None]
        if not known:
            return None
        most, pair = max(known, key=lambda item: item[0])
        return pair if most >= NOISE_SHARE * max(self.a_step_ns or 0, self.b_step_ns or 0) else None


def compare(a: RanksSide, b: RanksSide) -> RanksComparison:
    """Put two runs of ranks beside each other.

    Args:
        a: The one, with at least one rank.
        b: The other, likewise.
    """
    steps = tuple(_mean(of.summary.ranks, "median_ns") for of in (a, b))
    told = _parity(a, b)
    return RanksComparison(
        a=a,
        b=b,
        ranks=tuple(_pairs(a.summary, b.summary)),
        a_step_ns=steps[0],
        b_step_ns=steps[1],
        parts=tuple(_parts(a.summary.ranks, b.summary.ranks)),
        why_not=tuple(_why_not(a, b, told)),
        differences=tuple(_differences(a, b, told)),
    )


def _pairs(a: RanksSummary, b: RanksSummary) -> Iterator[RankPair]:
    of_a, of_b = ({one.rank: one for one in of.ranks} for of in (a, b))
    for rank in sorted({*of_a, *of_b}):
        one, two = of_a.get(rank), of_b.get(rank)
        yield RankPair(
            rank=rank,
            a_ns=one.median_ns if one else None,
            b_ns=two.median_ns if two else None,
            a_own_ns=one.own_ns if one else None,
            b_own_ns=two.own_ns if two else None,
            a_input_ns=one.input_ns if one else None,
            b_input_ns=two.input_ns if two else None,
        )


def _mean(of: Sequence[RankTimes], figure: str) -> int | None:
    """The mean over the ranks; None: some rank does not tell."""
    values = [getattr(one, figure) for one in of]
    return None if not values or any(value is None for value in values) else round(mean(values))


def _parts(a: Sequence[RankTimes], b: Sequence[RankTimes]) -> Iterator[PartPair]:
    """Parts that both tell, and the rest."""
    fields = {"input": "input_ns", "wait": "collective_wait_ns", "transfer": "collective_transfer_ns"}
    rest_a, rest_b = _mean(a, "median_ns"), _mean(b, "median_ns")
    if rest_a is None or rest_b is None:
        return
    for name in _PARTS:
        one, two = _mean(a, fields[name]), _mean(b, fields[name])
        if one is not None and two is not None:
            yield PartPair(name, one, two)
            rest_a, rest_b = rest_a - one, rest_b - two
    yield PartPair(WORK, rest_a, rest_b)


def _why_not(a: RanksSide, b: RanksSide, told: Parity | None) -> Iterator[str]:
    for name, of in (("A", a), ("B", b)):
        failed = [one.rank for one in of.summary.ranks if one.failed]
        if failed:
            yield f"in {name} rank {failed[0]} did not end as it should"
        if of.ranked.missing:
            yield f"{name} has no run of rank {of.ranked.missing[0]}"
    yield from told.why_not if told is not None else ()


def _differences(a: RanksSide, b: RanksSide, told: Parity | None) -> Iterator[str]:
    counts = [len(of.summary.ranks) for of in (a, b)]
    if counts[0] != counts[1]:
        yield f"the numbers of ranks: {counts[0]} and {counts[1]}"
    machines = [len({one.host for one in of.summary.ranks}) for of in (a, b)]
    if machines[0] != machines[1]:
        yield f"the numbers of machines: {machines[0]} and {machines[1]}"
    yield from told.differences if told is not None else ()


def _parity(a: RanksSide, b: RanksSide) -> Parity | None:
    """What the lowest rank that ended well in both tells of the work; None: there is none."""
    sound = [{one.rank for one in of.summary.ranks if not one.failed} for of in (a, b)]
    rank = min(sound[0] & sound[1], default=None)
    if rank is None:
        return None
    one, two = (next(own.run for own in of.ranked.members if own.rank == rank) for of in (a, b))
    return parity.check(one, two)


def side(label: str, ranked: RankedRun) -> RanksSide:
    """A run of ranks with its figures, under a name."""
    return RanksSide(label, ranked, ranks.of_run(ranked))
