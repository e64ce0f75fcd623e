"""A run of ranks as one JSON object (`dlprof.ranks/1`). Times are ns."""

from __future__ import annotations

from msgspec import Struct

from dlprof.analysis.ranks import RanksSummary, RankTimes
from dlprof.store.ranked import RankedRun

SCHEMA = "dlprof.ranks/1"


class RankReport(Struct, frozen=True, kw_only=True):
    """A rank; times are of a plain train step, null: not known."""

    rank: int
    host: str
    run: str
    """Its run's folder, from that of all ranks on."""
    steps: int
    median_ns: int | None
    input_ns: int | None
    collective_wait_ns: int | None
    """Standing still for ranks that came later to a collective."""
    collective_transfer_ns: int | None
    """Standing still for a collective that all had come to."""
    kernels_ns: int | None
    batch: int | None
    """Rows of a batch, where its loader tells them."""
    ended: str


class ClockReport(Struct, frozen=True, kw_only=True):
    """How the clocks of the ranks stand to each other; null: not known."""

    offset_ns: int | None
    error_ns: int | None
    unknown: str | None
    """Why it is not known, as a clause; null: it is."""


class StragglerReport(Struct, frozen=True, kw_only=True):
    """The rank that the others wait for."""

    rank: int
    excess_ns: int
    """What it does itself in a step, beyond the median of the others."""
    part: str
    """Where most of that is: input, kernels, host; work: kernels or host, which were not told apart."""
    part_ns: int
    last_share: float | None
    """Share of the collectives that it came last to; null: not seen."""


class RanksReport(Struct, frozen=True, kw_only=True):
    """All that the text of a run of ranks says."""

    schema: str = SCHEMA
    run: str
    world: int | None
    """How many ranks there were to be; null: not told."""
    ranks: tuple[RankReport, ...]
    missing: tuple[int, ...]
    """Ranks of which there is no run."""
    lost: dict[str, str]
    """Folders of ranks that cannot be opened, and why not."""
    set_aside: tuple[str, ...]
    """Folders of further runs of a rank, such as those before a restart: none of the figures is of them."""
    skew_ns: int | None
    skew_how: str | None
    """arrivals: median of the time from the first rank to the last that comes to a collective; medians: the difference
    of the longest and the shortest median step; null: not known."""
    clock: ClockReport
    waits_unknown: str | None
    """Why waits in collectives are not known, as a clause; null: they are."""
    straggler: StragglerReport | None


def as_json(ranked: RankedRun, summary: RanksSummary) -> RanksReport:
    """A run of ranks, for machines."""
    clock, slow = summary.clock, summary.straggler
    return RanksReport(
        run=ranked.name,
        world=ranked.world,
        ranks=tuple(_rank(one) for one in summary.ranks),
        missing=ranked.missing,
        lost=dict(ranked.lost),
        set_aside=ranked.set_aside,
        skew_ns=summary.skew_ns,
        skew_how=summary.skew_how,
        clock=ClockReport(offset_ns=clock.offset_ns, error_ns=clock.error_ns, unknown=clock.unknown),
        waits_unknown=summary.waits_unknown,
        straggler=None
        if slow is None
        else StragglerReport(
            rank=slow.rank,
            excess_ns=slow.excess_ns,
            part=slow.part,
            part_ns=slow.part_ns,
            last_share=slow.last_share,
        ),
    )


def _rank(one: RankTimes) -> RankReport:
    return RankReport(**{name: getattr(one, name) for name in RankReport.__struct_fields__})
