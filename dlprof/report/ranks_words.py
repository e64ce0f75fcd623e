"""What the ranks of a training tell, as sentences: for a terminal, and for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import rank_pauses
from dlprof.analysis.device_collectives import DeviceCollectives
from dlprof.analysis.device_time import DeviceTime
from dlprof.analysis.ranks import RanksSummary, RankTimes, Straggler
from dlprof.store.ranked import RankedRun
from dlprof.units import duration, percent, times

_MANY = 3
"""What all others stand still for one rank is worth a word from so many usual steps on."""
_NAMED = 6
"""Ranks that are named one by one, at most."""
_PARTS = {
    "input": "waiting for its input",
    "kernels": "in kernels",
    "host": "on the host, outside kernels and input",
    "work": "in its own work, not its input (kernels and host were not told apart)",
}


@dataclass(frozen=True)
class Line:
    """A sentence of what the ranks tell.

    Attributes:
        label: What it is about.
        text: The sentence.
        bad: It tells of something that went wrong.
    """

    label: str
    text: str
    bad: bool = False


def lines(ranked: RankedRun, summary: RanksSummary) -> Iterator[Line]:
    """All that there is to say, the steps first.

    Args:
        ranked: The run.
        summary: Its figures.
    """
    yield Line("Steps", _steps(summary))
    yield Line("Straggler", straggler(summary))
    yield Line("Waits", _waits(summary))
    if summary.devices:
        yield Line("Devices", _devices(summary))
    ended, bad = _ended(ranked, summary)
    yield Line("Ended", ended, bad)


def where(ranked: RankedRun, summary: RanksSummary) -> str:
    """How many ranks there are, and where they ran."""
    hosts = {one.host for one in summary.ranks}
    place = f"on {next(iter(hosts))}" if len(hosts) == 1 else f"on {len(hosts)} machines"
    of = f" of {ranked.world}" if ranked.world and ranked.world != len(summary.ranks) else ""
    return f"{len(summary.ranks)}{of} ranks {place}, {duration(wall_ns(ranked))}"


def wall_ns(ranked: RankedRun) -> int:
    """Wall time of the rank that took longest (ns)."""
    return max((one.run.wall_ns or 0 for one in ranked.members), default=0)


def command(ranked: RankedRun) -> str:
    """What was run, as it was typed."""
    own = ranked.members[0].run.manifest if ranked.members else ranked.manifest
    return own.command.text or ranked.name


def _steps(summary: RanksSummary) -> str:
    if not any(one.steps for one in summary.ranks):
        return "no train steps were seen in any rank: dlprof help own-loops says which loops are recognised"
    counts = Counter(one.steps for one in summary.ranks)
    most, same = counts.most_common(1)[0] if counts else (0, 0)
    text = f"{most} in each rank" if same == len(summary.ranks) else _uneven(summary.ranks)
    known = sorted((one for one in summary.ranks if one.median_ns is not None), key=lambda one: one.median_ns or 0)
    if not known:
        return f"{text}; how long one takes is not known: dlprof report RANK tells why"
    text += f"; median {duration(summary.median_ns)}"
    if len(known) > 1:
        low, high = known[0], known[-1]
        text += f", {duration(low.median_ns)} (rank {low.rank}) to {duration(high.median_ns)} (rank {high.rank})"
    if summary.skew_ns is not None:
        of = "from first to last at a collective" if summary.skew_how == "arrivals" else "between medians"
        text += f"; skew {duration(summary.skew_ns)} {of}"
    return text


def _uneven(ranks: Sequence[RankTimes]) -> str:
    low, high = min(ranks, key=lambda one: one.steps), max(ranks, key=lambda one: one.steps)
    return f"{low.steps} (rank {low.rank}) to {high.steps} (rank {high.rank}) in a rank"


def straggler(summary: RanksSummary) -> str:
    """Which rank the others wait for, for how long, and for what; or that there is none."""
    slow = summary.straggler
    if slow is None:
        known = sum(one.median_ns is not None for one in summary.ranks) > 1
        if (now_and_then := _now_and_then(summary)) is not None:
            return now_and_then
        return "none: no rank is 5 % of a step slower than the others, step after step" if known else "not known"
    times = summary.of(slow.rank)
    text = f"rank {slow.rank}: {duration(slow.excess_ns)} a step more than the others"
    text += f" ({percent(slow.excess_ns, times.median_ns)} % of its step), {_where(slow)}"
    if slow.last_share is not None:
        text += f"; last to come to {100 * slow.last_share:.0f} % of the collectives"
    return text


def _now_and_then(summary: RanksSummary) -> str | None:
    """The rank that all others wait for in some steps, and in most not; None: there is none."""
    found = rank_pauses.longest(summary.pauses, summary.median_ns or 0)
    if found is None or summary.median_ns is None or found.total_ns < summary.median_ns * _MANY:
        return None
    count, steps = len(found.times), min(one.steps for one in summary.ranks)
    how = " (told by when the ranks began their steps)" if found.is_inferred else ""
    return (
        f"none in the median step; now and then rank {found.rank}: {times(count)} in "
        f"{steps} steps all others stood still for it, {duration(found.total_ns)} in all{how}"
    )


def _where(slow: Straggler) -> str:
    how_much = "most of it" if slow.part_ns < slow.excess_ns else "all of it"
    return f"{how_much} {_PARTS[slow.part]}" if slow.part != "work" else _PARTS[slow.part]


def _waits(summary: RanksSummary) -> str:
    known = [one for one in summary.ranks if one.collective_wait_ns is not None]
    if not known and summary.device_collectives.wait_ns:
        return _traced_waits(summary.device_collectives)
    if not known:
        return f"in collectives: not measured, because {summary.waits_unknown or 'no plain steps were seen'}"
    most = max(known, key=lambda one: one.collective_wait_ns or 0)
    transfer = sorted(one.collective_transfer_ns or 0 for one in known)[len(known) // 2]
    return (
        f"in collectives, in the median step: up to {duration(most.collective_wait_ns)} (rank {most.rank}, "
        f"{percent(most.collective_wait_ns, most.median_ns)} % of its step) for ranks that come later, and "
        f"{duration(transfer)} for the transfer (median of the ranks){_clocks(summary)}"
    )


def _traced_waits(found: DeviceCollectives) -> str:
    """Of traces, which need no clock in common for it: each collective is shortest in the rank that came last."""
    rank, wait = max(found.wait_ns.items(), key=lambda one: one[1])
    return (
        f"in the {found.count} collectives that were traced: up to {duration(wait)} in all (rank {rank}) for ranks "
        "that come later, by how much longer each is than in the rank where it is shortest, and "
        f"{duration(found.transfer_ns)} from then on"
    )


def _devices(summary: RanksSummary) -> str:
    """How busy the devices were, from the idlest to the busiest."""
    known = sorted((one for one in summary.devices if one.span_ns), key=lambda one: one.busy_ns / one.span_ns)
    if not known:
        return "nothing ran on them"
    low, high = known[0], known[-1]
    text = f"busy {percent(low.busy_ns, low.span_ns)} % (rank {low.rank})"
    if low is not high:
        text += f" to {percent(high.busy_ns, high.span_ns)} % (rank {high.rank})"
    talking = sorted((one for one in known if one.communication_ns), key=_hidden)
    if talking:
        text += f"; of their collectives {100 * _hidden(talking[0]):.1f} %"
        text += f" to {100 * _hidden(talking[-1]):.1f} %" if len(talking) > 1 else ""
        text += " are beside computation"
    found = summary.device_collectives
    if found.spread_ns is not None:
        text += f"; {duration(found.spread_ns)} from the first to the last that comes to one (median of {found.count})"
    return text


def _hidden(one: DeviceTime) -> float:
    """Share of the time of collectives in which something was computed, too."""
    return one.communication_overlapped_ns / max(1, one.communication_ns)


def _clocks(summary: RanksSummary) -> str:
    """How well waits of ranks of several machines are known."""
    if not summary.clock.hosts:
        return ""
    count, error = len(summary.clock.hosts) + 1, duration(summary.clock.error_ns)
    return f"; clocks of {count} machines compared by collectives, to {error}"


def _ended(ranked: RankedRun, summary: RanksSummary) -> tuple[str, bool]:
    """How the ranks ended, and whether not all is well."""
    ways = Counter(one.ended for one in summary.ranks)
    odd = [one for one in summary.ranks if one.failed]
    parts = [f"all {way}" if len(ways) == 1 else f"{count} {way}" for way, count in ways.most_common(_NAMED)]
    if summary.interrupted:
        parts.append("the run was interrupted")
    if odd:
        parts.append("; ".join(_failures(summary, odd)))
    missing = ranked.missing
    if missing:
        parts.append(f"no run of rank {', '.join(map(str, missing[:_NAMED]))}{' ...' * (len(missing) > _NAMED)}")
    if ranked.lost:
        parts.append("; ".join(f"{name} cannot be opened: {why}" for name, why in list(ranked.lost.items())[:2]))
    if ranked.set_aside:
        parts.append(f"left out: {', '.join(ranked.set_aside[:_NAMED])}, of ranks that began again")
    return "; ".join(parts), bool(odd or missing or ranked.lost or summary.interrupted)


def _failures(summary: RanksSummary, odd: Sequence[RankTimes]) -> Iterator[str]:
    """The ranks that did not end well: first to last, where that is known."""
    times, first = summary.failures, summary.first_failed
    if times is None or first is None or len(odd) < 2:
        yield from (f"rank {one.rank} {failure(one)}" for one in odd[:_NAMED])
        return
    yield f"rank {first} failed first: {failure(summary.of(first))}"
    for number, rank in enumerate(list(times)[1:_NAMED]):
        later = f", {duration(times[rank] - times[first])} later" if times[rank] > times[first] else ""
        yield f"{'' if number else 'then '}rank {rank} {failure(summary.of(rank))}{later}"


def failure(one: RankTimes) -> str:
    """How a rank failed, and when: `ValueError at train.py:25 (exit code 1) after 76 steps`."""
    least = "at least " if one.steps_cut else ""
    place = f" at {one.error_file}:{one.error_line}" if one.error_file and one.error_line else ""
    how = f"{one.error}{place} ({one.ended})" if one.error else one.ended
    return f"{how} after {least}{one.steps} steps"
