"""A run of ranks as one JSON object (`dlprof.ranks/1`). Times are ns."""

from __future__ import annotations

from msgspec import Struct

from dlprof.analysis.clocks import Clock
from dlprof.analysis.device_collectives import DeviceCollectives
from dlprof.analysis.device_time import DeviceTime
from dlprof.analysis.ranks import RanksSummary, RankTimes, Straggler
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
    steps_cut: bool
    """What it did last was not written: it may have come further than `steps`."""
    error: str | None
    """Class of the exception that ended it; null: none was seen."""
    error_file: str | None
    error_line: int | None


class HostClockReport(Struct, frozen=True, kw_only=True):
    """The clock of a machine against that of the lowest rank's."""

    offset_ns: int
    """What its wall clock showed more."""
    error_ns: int
    drift_ppm: float
    """By how much it goes faster (millionths); 0: no more than can be told."""
    pairs: int
    """Collectives that tell it."""


class ClockReport(Struct, frozen=True, kw_only=True):
    """How the clocks of the ranks stand to each other; null: not known."""

    offset_ns: int | None
    """Greatest offset between the wall clocks of two machines; 0: all ranks ran on one."""
    error_ns: int | None
    """How well it is known, as an upper bound from when ranks came to collectives and left them."""
    unknown: str | None
    """Why it is not known, as a clause; null: it is."""
    hosts: dict[str, HostClockReport]
    """Machine to its clock against that of the lowest rank's; empty where all ranks ran on one."""


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


class DeviceCollectivesReport(Struct, frozen=True, kw_only=True):
    """Kernels of collectives that all ranks have, the n-th of a name in each; times are sums over all traced ones.

    Without such kernels: operators of the host that are collectives inside of compiled programs.
    """

    count: int
    """How many in each rank."""
    wait_ns: dict[str, int]
    """Rank to the time in them before the last rank had come, told by how much longer they are than the shortest."""
    transfer_ns: int
    """The time in them from then on."""
    last_share: dict[str, float]
    """Rank to the share of them that it came last to."""
    spread_ns: int | None
    """Median of the time from the first rank to the last that came to one."""
    unknown: str | None
    """Why nothing is known, as a clause; null: it is."""


class RanksReport(Struct, frozen=True, kw_only=True):
    """All that the text of a run of ranks says."""

    schema: str = SCHEMA
    run: str
    world: int | None
    """How many ranks there were to be; null: not told."""
    ranks: tuple[RankReport, ...]
    first_failed: int | None
    """The rank that failed first; null: none failed, it is not known which, or the run was interrupted."""
    interrupted: bool
    """Ctrl-C came, or what had started the ranks was told to end."""
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
    devices: tuple[DeviceTime, ...]
    """How long each device of each rank was busy, and with what, as far as it was traced."""
    device_collectives: DeviceCollectivesReport


def as_json(ranked: RankedRun, summary: RanksSummary) -> RanksReport:
    """A run of ranks, for machines."""
    return RanksReport(
        run=ranked.name,
        world=ranked.world,
        ranks=tuple(_rank(one) for one in summary.ranks),
        first_failed=summary.first_failed,
        interrupted=summary.interrupted,
        missing=ranked.missing,
        lost=dict(ranked.lost),
        set_aside=ranked.set_aside,
        skew_ns=summary.skew_ns,
        skew_how=summary.skew_how,
        clock=_clock(summary.clock),
        waits_unknown=summary.waits_unknown,
        straggler=straggler(summary.straggler),
        devices=summary.devices,
        device_collectives=_on_devices(summary.device_collectives),
    )


def straggler(found: Straggler | None) -> StragglerReport | None:
    """The rank that the others wait for, for machines."""
    if found is None:
        return None
    return StragglerReport(
        rank=found.rank,
        excess_ns=found.excess_ns,
        part=found.part,
        part_ns=found.part_ns,
        last_share=found.last_share,
    )


def _on_devices(found: DeviceCollectives) -> DeviceCollectivesReport:
    return DeviceCollectivesReport(
        count=found.count,
        wait_ns={str(rank): wait for rank, wait in found.wait_ns.items()},
        transfer_ns=found.transfer_ns,
        last_share={str(rank): share for rank, share in found.last_share.items()},
        spread_ns=found.spread_ns,
        unknown=found.unknown,
    )


def _clock(clock: Clock) -> ClockReport:
    hosts = {
        name: HostClockReport(offset_ns=one.offset_ns, error_ns=one.error_ns, drift_ppm=one.drift_ppm, pairs=one.pairs)
        for name, one in clock.hosts.items()
    }
    return ClockReport(offset_ns=clock.offset_ns, error_ns=clock.error_ns, unknown=clock.unknown, hosts=hosts)


def _rank(one: RankTimes) -> RankReport:
    return RankReport(**{name: getattr(one, name) for name in RankReport.__struct_fields__})
