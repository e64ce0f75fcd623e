"""What the ranks of one training tell of each other: their steps, waits in collectives, skew, and who holds them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np

from dlprof.analysis import (
    clocks,
    collectives,
    device_collectives,
    device_time,
    rank_ends,
    rank_interruptions,
    rank_pauses,
    rank_stands,
    rank_steps,
    step_split,
    steps,
)
from dlprof.analysis.clocks import Clock, Placement
from dlprof.analysis.collectives import Matched, Waits
from dlprof.analysis.columns import Floats, Integers, Truths, integers, steps_of, truths, under_tracer
from dlprof.analysis.device_collectives import DeviceCollectives
from dlprof.analysis.device_time import DeviceTime
from dlprof.analysis.rank_ends import RankEnd
from dlprof.analysis.rank_interruptions import Interruptions
from dlprof.analysis.rank_pauses import Pauses
from dlprof.analysis.rank_stands import Span
from dlprof.analysis.rank_steps import BinnedSteps, StepRows
from dlprof.analysis.stretches import Stretches
from dlprof.errors import DlprofError
from dlprof.schema.vocabulary import Loop, RunState, StepPart
from dlprof.store.ranked import Member, RankedRun
from dlprof.store.run import Run

LEAST_SHARE = 0.05
"""A rank that takes less than this share of a step longer than the others is no straggler."""
LEAST_SHARE_OF_STEPS = 0.2
"""The same where only whole steps are known, waits for others included: little of these says nothing."""
_MOSTLY_OURS = 0.5
"""Share of a pause from which on dlprof's own work is why."""
_SAMPLED_RANKS = 16
"""Up to so many ranks are compared by their sampled stacks, where nothing else tells."""
LOOPS = (Loop.TRAIN, Loop.UNKNOWN)
"""Steps of a foreign trace may not say that they train."""
_ARRIVALS, _MEDIANS = "arrivals", "medians"


@dataclass(frozen=True)
class RankTimes:
    """A rank; times are of a plain train step (ns), None: not known.

    Attributes:
        rank, host, run: Its number, its machine, and its run's folder from that of all ranks on.
        steps: Train steps, all of them.
        median_ns: Median of a step, with the wait for its batch.
        input_ns: Of that the host's wait for its batch.
        collective_wait_ns: Of that standing still for ranks that came later to a collective.
        collective_transfer_ns: Of that standing still for a collective that all had come to.
        kernels_ns: Of that kernels ran, by a window of the engine's tracer; those of collectives are none.
        batch: Rows of a batch, where the loader tells them.
        ended: How its process ended, in words.
        failed: It did not end as it should.
        steps_cut: What it did last was not written: it may have come further than `steps`.
        error: Class of the exception that ended it; None: none was seen.
        error_file, error_line: The user's line of that.
    """

    rank: int
    host: str
    run: str
    steps: int
    median_ns: int | None
    input_ns: int | None
    collective_wait_ns: int | None
    collective_transfer_ns: int | None
    kernels_ns: int | None
    batch: int | None
    ended: str
    failed: bool
    steps_cut: bool = False
    error: str | None = None
    error_file: str | None = None
    error_line: int | None = None

    @property
    def own_ns(self) -> int | None:
        """What it did itself in a step (ns): all but standing still in collectives; None: not known."""
        if self.median_ns is None or self.collective_wait_ns is None:
            return None
        return max(0, self.median_ns - self.collective_wait_ns - (self.collective_transfer_ns or 0))


@dataclass(frozen=True)
class Straggler:
    """The rank that the others wait for.

    Attributes:
        rank: Which.
        excess_ns: What it does itself in a step, beyond the median of the others (ns).
        part: Where most of that is: `input`, `kernels`, `host`; `work`: kernels or host, which were not told apart.
        part_ns: How much (ns).
        last_share: Share of the collectives that it came last to, 0 to 1; None: these were not seen.
    """

    rank: int
    excess_ns: int
    part: str
    part_ns: int
    last_share: float | None


@dataclass(frozen=True)
class RanksSummary:
    """All ranks.

    Attributes:
        ranks: By rank.
        skew_ns: Median of the time from the first rank to the last that comes to a step's collective (ns); where these
            were not seen, the difference of the longest and the shortest median step. None: not known.
        skew_how: `arrivals` or `medians`; None: not known.
        clock: How their clocks stand to each other.
        waits_unknown: Why it is not known how long they stood still in collectives; None: it is.
        straggler: None: there is none, or nothing tells.
        devices: How long each device of each rank was busy, and with what, as far as it was traced.
        device_collectives: What the collectives on devices tell.
        stretches: Rank to its train steps in order, in stretches of equally many in all ranks.
        pauses: When all ranks but one stood still for that one.
        progress: Rank to when its last train step or collective ended, on the clock in common (ns).
        failures: The ranks that did not end as they should, first to last, with when on the clock in common (ns);
            None: their order is not known.
        interrupted: Ctrl-C came, or what had started them was told to end.
    """

    ranks: tuple[RankTimes, ...]
    skew_ns: int | None
    skew_how: str | None
    clock: Clock
    waits_unknown: str | None
    straggler: Straggler | None
    devices: tuple[DeviceTime, ...] = ()
    device_collectives: DeviceCollectives = field(default_factory=DeviceCollectives)
    stretches: Mapping[int, BinnedSteps] = field(default_factory=dict)
    pauses: tuple[Pauses, ...] = ()
    progress: Mapping[int, int] = field(default_factory=dict)
    failures: Mapping[int, int] | None = None
    interrupted: bool = False

    @property
    def first_failed(self) -> int | None:
        """The rank that failed first, and by itself; None: none did, it is not known, or all were interrupted."""
        return next(iter(self.failures), None) if self.failures and not self.interrupted else None

    @property
    def median_ns(self) -> int | None:
        """Median over the ranks of their median steps (ns)."""
        known = [one.median_ns for one in self.ranks if one.median_ns is not None]
        return int(median(known)) if known else None

    def of(self, rank: int) -> RankTimes:
        """A rank by its number."""
        return next(one for one in self.ranks if one.rank == rank)


@dataclass(frozen=True)
class _Steps:
    """Train steps of a rank by their begin, that of the wait for the batch: when, until when, which are plain."""

    begin: Integers
    end: Integers
    count: Integers
    plain: Truths
    input: Integers

    def places(self, moments: Integers) -> Integers:
        """The step that each moment is in; -1: in none."""
        if not len(self.begin):
            return np.full(len(moments), -1, np.int64)
        place = np.searchsorted(self.begin, moments, side="right") - 1
        return np.where((place >= 0) & (moments < self.end[np.maximum(place, 0)]), place, -1)


def of_run(ranked: RankedRun) -> RanksSummary:
    """What the ranks of a run tell."""
    members = ranked.members
    clock = clocks.of_ranks(members) if members else Clock(None, None, "there are no ranks")
    alone = len(members) == 1 and ranked.world == 1
    matched = collectives.alone(members[0]) if alone else collectives.match(members, clock)
    interruptions = rank_interruptions.of_ranks(members, clock)
    held_up = interruptions.both.times
    grids = {member.rank: _grid(member.run, held_up, clock.placements.get(member.rank)) for member in members}
    ends = {member.rank: rank_ends.of_run(member.run) for member in members}
    times = tuple(_times(ranked, member, matched, grids[member.rank], ends[member.rank]) for member in members)
    skew_ns, how = _skew(times, matched, grids)
    slow, on_devices = straggler_of(times, _last(matched)), device_collectives.match(members)
    if slow is None and matched.unknown is not None:
        slow = _late_on_devices(times, on_devices) or _late_by_stacks(members, times, _in_steps(grids, clock))
    devices = tuple(replace(one, rank=member.rank) for member in members for one in device_time.of_run(member.run))
    return RanksSummary(
        times, skew_ns, how, clock, matched.unknown, slow, devices, on_devices,
        stretches=_stretches(matched, grids),
        pauses=_in_training(matched.pauses or _pauses(clock, grids), clock, grids, interruptions),
        progress=_progress(clock, matched, grids),
        failures=rank_ends.failures(ends, clock),
        interrupted=_interrupted(ranked),
    )  # fmt: skip


def _interrupted(ranked: RankedRun) -> bool:
    runs = [ranked.program] if ranked.program is not None else [member.run for member in ranked.members]
    return any(run.manifest.state == RunState.INTERRUPTED for run in runs)


def stood_in_collectives(run: Run) -> int | None:
    """For how long a plain train step of a rank stands still in collectives, by its own record alone.

    Waits for ranks that come later and the transfer are told apart where all ranks are looked at.

    Args:
        run: The run of the rank.

    Returns:
        The median (ns); None: no collectives were seen, or no plain step.
    """
    rows = run.table("collectives", ("start_ns", "blocked_ns"))
    if not rows.num_rows:
        return None
    grid = _grid(run, (), None)
    if not grid.plain.any():
        return None
    return int(np.median(_by_step(integers(rows["start_ns"]), integers(rows["blocked_ns"]), grid)[grid.plain]))


def _in_training(
    pauses: Sequence[Pauses], clock: Clock, grids: Mapping[int, _Steps], interruptions: Interruptions
) -> tuple[Pauses, ...]:
    """The pauses once each rank has made what it makes once, but for those in which dlprof held one up.

    While one is traced any may be dlprof's doing; beside its other work those that are mostly that.

    That is from the first plain step on; from the second where none is.
    """
    if clock.unknown is not None:
        return ()
    numbers = {rank: max(1, int(grid.plain.argmax())) for rank, grid in grids.items() if len(grid.begin) > 1}
    firsts = [clock.placements[rank].placed(grids[rank].begin[at : at + 1])[0] for rank, at in numbers.items()]
    since = (one.since(int(max(firsts))) for one in pauses) if firsts else ()
    return tuple(one.apart_from(interruptions.traced).apart_from(interruptions.ours, _MOSTLY_OURS) for one in since)


def _pauses(clock: Clock, grids: Mapping[int, _Steps]) -> tuple[Pauses, ...]:
    """When all ranks but one stood still, by the begins of their steps; none where these tell nothing."""
    count = min((len(grid.begin) for grid in grids.values()), default=0)
    if clock.unknown is not None or len(grids) < 2 or count < 2:
        return ()
    ranks = sorted(grids)
    begin = np.stack([clock.placements[rank].placed(grids[rank].begin[:count]) for rank in ranks])
    return (rank_pauses.of_steps(ranks, begin),)


def _progress(clock: Clock, matched: Matched, grids: Mapping[int, _Steps]) -> dict[int, int]:
    """When each rank last ended something that all do."""
    if clock.unknown is not None:
        return {}
    found = {
        rank: int(clock.placements[rank].placed(grid.end[-1:])[0]) for rank, grid in grids.items() if len(grid.end)
    }
    return {rank: max(found.get(rank, 0), matched.over.get(rank, 0)) for rank in {*found, *matched.over}}


def _late_on_devices(times: Sequence[RankTimes], found: DeviceCollectives) -> Straggler | None:
    """The rank whose devices come last to the collectives that all wait in; None: there is none."""
    if not found.last_share:
        return None
    rank = max(found.last_share, key=lambda one: found.last_share[one])
    share, slow = found.last_share[rank], next(one for one in times if one.rank == rank)
    if share < (1 + 1 / len(times)) / 2 or not slow.steps or not slow.median_ns:
        return None
    others = median(wait for one, wait in found.wait_ns.items() if one != rank)
    excess = int((others - found.wait_ns[rank]) / (found.steps or slow.steps))
    return Straggler(rank, excess, "work", excess, share) if excess >= LEAST_SHARE * slow.median_ns else None


def _late_by_stacks(
    members: Sequence[Member], times: Sequence[RankTimes], spans: Mapping[int, Sequence[Span]]
) -> Straggler | None:
    """The rank that is busiest by itself while the others stand in their engine; None: there is none, or many ranks."""
    if not 2 <= len(spans) == len(members) <= _SAMPLED_RANKS:
        return None
    stood = {one.rank: rank_stands.stood(one.run, spans[one.rank]) for one in members}
    found = []
    for rank, own in stood.items():
        more = [rank_stands.more(own, other) for two, other in stood.items() if two != rank]
        found.append((min(0.0 if told is None else told.share for told in more), rank))
    share, rank = max(found)
    slow = next(told for told in times if told.rank == rank)
    if share < LEAST_SHARE_OF_STEPS or not slow.steps:
        return None
    excess = int(share * sum(end - begin for begin, end in spans[rank]) / slow.steps)
    return Straggler(rank, excess, "host", excess, None)


def _in_steps(grids: Mapping[int, _Steps], clock: Clock) -> dict[int, tuple[Span, ...]]:
    """The time from the first plain step of each rank to its last, without pauses for one of them where these are few.

    Times are of its own timeline (ns).
    """
    some = {rank: grid for rank, grid in grids.items() if int(grid.plain.sum()) > 1}
    usual = [float(np.median(grid.end - grid.begin)) for grid in some.values()]
    lone = rank_pauses.longest(_pauses(clock, some), int(median(usual))) if usual else None
    found = {}
    for rank, grid in some.items():
        place = clock.placements.get(rank)
        cuts = Stretches.of(())
        if lone is not None and place is not None and not lone.is_often(len(grid.begin)):
            cuts = Stretches.of(place.own(np.array(lone.times, np.int64)))
        plain = np.flatnonzero(grid.plain)
        found[rank] = cuts.outside(int(grid.begin[plain[0]]), int(grid.end[plain[-1]])).times
    return found


def _grid(run: Run, held_up: Sequence[tuple[int, int]], place: Placement | None) -> _Steps:
    names = ("loop", "count", "start_ns", "dur_ns", "input_ns", "compiled")
    table = run.table("steps", names)
    told = (steps_of(table, loop) for loop in LOOPS)
    rows = next((found for found in told if found.num_rows), table.slice(0, 0)).sort_by("start_ns")
    start = integers(rows["start_ns"])
    plain = ~truths(rows["compiled"]) & ~under_tracer(rows, run.table("kernel_windows"))
    end = start + integers(rows["dur_ns"])
    alone = plain.copy()
    if place is not None:
        begin_there, end_there = place.placed(start), place.placed(end)
        for low, high in held_up:
            alone &= (end_there <= low) | (begin_there >= high)
    waited = integers(rows["input_ns"])
    count = np.maximum(1, integers(rows["count"]))
    return _Steps(start - waited, end, count, alone if alone.any() else plain, waited)


def _times(ranked: RankedRun, member: Member, matched: Matched, grid: _Steps, end: RankEnd) -> RankTimes:
    run = member.run
    loops = {one.loop: one for one in steps.of_run(run)}
    loop = next((loops[name] for name in LOOPS if name in loops), None)
    wait_ns, transfer_ns = _in_a_step(matched.waits.get(member.rank), grid)
    return RankTimes(
        rank=member.rank,
        host=member.host,
        run=ranked.path_of(member),
        steps=loop.count if loop is not None else 0,
        median_ns=loop.median_ns if loop is not None else None,
        input_ns=loop.input_median_ns if loop is not None else None,
        collective_wait_ns=wait_ns,
        collective_transfer_ns=transfer_ns,
        kernels_ns=_kernels(run),
        batch=_batch(run),
        ended=end.ended,
        failed=end.failed,
        steps_cut=end.is_cut,
        error=end.error,
        error_file=end.error_file,
        error_line=end.error_line,
    )


def _in_a_step(waits: Waits | None, grid: _Steps) -> tuple[int | None, int | None]:
    """Median over plain steps of what a rank waited, and of the transfer, in each (ns)."""
    if waits is None or not grid.plain.any():
        return None, None
    wait, transfer = (_by_step(waits.start, values, grid) for values in (waits.wait, waits.transfer))
    return int(np.median(wait[grid.plain])), int(np.median(transfer[grid.plain]))


def _by_step(start: Integers, values: Integers, grid: _Steps) -> Floats:
    """The sum of what began in each step, per step where several are one call."""
    places = grid.places(start)
    inside = places >= 0
    total = np.zeros(len(grid.begin), np.int64)
    np.add.at(total, places[inside], values[inside])
    return np.asarray(total / grid.count, np.float64)


def _stretches(matched: Matched, grids: Mapping[int, _Steps]) -> dict[int, BinnedSteps]:
    """The steps of each rank that has some."""
    some = {rank: grid for rank, grid in grids.items() if len(grid.begin)}
    most = max((int(grid.count.sum()) for grid in some.values()), default=0)
    of_row = max((int(grid.count.max()) for grid in some.values()), default=1)
    each = rank_steps.width(most, of_row, len(grids))
    return {rank: rank_steps.stretches(_rows(matched.waits.get(rank), grid), each) for rank, grid in some.items()}


def _rows(waits: Waits | None, grid: _Steps) -> StepRows:
    if waits is None:
        return StepRows(grid.begin, grid.end, grid.count, grid.input, None, None)
    wait, transfer = (_by_step(waits.start, values, grid) * grid.count for values in (waits.wait, waits.transfer))
    return StepRows(grid.begin, grid.end, grid.count, grid.input, wait, transfer)


def _kernels(run: Run) -> int | None:
    try:
        split = step_split.of_run(run)
    except DlprofError:  # a table of it is damaged
        return None
    return split.plain_ns[StepPart.KERNELS] if split is not None and split.plain_ns is not None else None


def _batch(run: Run) -> int | None:
    """Rows of a batch of the loader that gave most of them."""
    rows = [row for row in run.rows("loaders") if row["batch_size"]]
    return max(rows, key=lambda row: row["item_count"] or 0)["batch_size"] if rows else None


def _skew(times: Sequence[RankTimes], matched: Matched, grids: Mapping[int, _Steps]) -> tuple[int | None, str | None]:
    arrivals = matched.arrivals
    if arrivals is not None:
        first = arrivals.ranks[0]
        spread = arrivals.spread
        plain = _in_plain(matched, grids, first, len(spread))
        return int(np.median(spread[plain] if plain.any() else spread)), _ARRIVALS
    known = [one.median_ns for one in times if one.median_ns is not None]
    return (max(known) - min(known), _MEDIANS) if len(known) > 1 else (None, None)


def _in_plain(matched: Matched, grids: Mapping[int, _Steps], rank: int, count: int) -> Truths:
    """Which of the collectives that are told apart by arrival lie in plain steps of a rank."""
    arrivals, grid = matched.arrivals, grids[rank]
    if arrivals is None or not len(grid.begin):
        return np.zeros(count, bool)
    places = grid.places(arrivals.places[0].own(arrivals.times[0]))
    return np.where(places >= 0, grid.plain[np.maximum(places, 0)], False)


def _last(matched: Matched) -> Mapping[int, float]:
    return matched.arrivals.last_share() if matched.arrivals is not None else {}


def straggler_of(times: Sequence[RankTimes], last: Mapping[int, float]) -> Straggler | None:
    """The rank that the others wait for; None: there is none.

    Args:
        times: All ranks.
        last: Rank to the share of the collectives that it came last to; empty: not known. One that comes last hardly
            more often than chance would have it is no straggler.
    """
    if len(times) < 2:
        return None
    for figure in ("own_ns", "median_ns", "input_ns"):
        found = _slowest(times, figure)
        if found is not None and (not last or last.get(found[0].rank, 0) >= (1 + 1 / len(times)) / 2):
            slow, excess_ns = found
            part, part_ns = _part(slow, [one for one in times if one is not slow], excess_ns)
            return Straggler(slow.rank, excess_ns, part, part_ns, last.get(slow.rank) if last else None)
        if all(one.own_ns is not None for one in times):
            return None  # all is known, and nobody is slower
    return None


def _slowest(times: Sequence[RankTimes], figure: str) -> tuple[RankTimes, int] | None:
    """The rank with most of a figure, and how much more it has than the median of the others."""
    known = [(one, value) for one in times if (value := getattr(one, figure)) is not None]
    if len(known) < max(2, len(times)):
        return None
    slow, value = max(known, key=lambda pair: pair[1])
    excess = int(value - median(other for one, other in known if one is not slow))
    least = LEAST_SHARE_OF_STEPS if figure == "median_ns" else LEAST_SHARE
    return (slow, excess) if slow.median_ns and excess >= least * slow.median_ns else None


def _part(slow: RankTimes, others: Sequence[RankTimes], excess_ns: int) -> tuple[str, int]:
    """Where most of what a rank takes longer is."""
    more_input = _more(slow, others, "input_ns")
    if more_input is not None and more_input >= excess_ns / 2:
        return "input", min(more_input, excess_ns)
    rest = excess_ns - max(0, more_input or 0)
    more_kernels = _more(slow, others, "kernels_ns")
    if more_kernels is None:
        return "work", rest
    return ("kernels", min(more_kernels, rest)) if more_kernels >= rest / 2 else ("host", rest - max(0, more_kernels))


def _more(slow: RankTimes, others: Sequence[RankTimes], figure: str) -> int | None:
    own, theirs = getattr(slow, figure), [getattr(one, figure) for one in others]
    if own is None or any(one is None for one in theirs):
        return None
    return int(own - median(theirs))
