"""The report of a run of ranks on a terminal: a few lines, whether there are two ranks or a thousand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TextIO

import numpy as np
from rich.text import Text

from dlprof.analysis.device_time import DeviceTime
from dlprof.analysis.ranks import RanksSummary, RankTimes, Straggler
from dlprof.report.console import Page, make_page
from dlprof.store.ranked import RankedRun
from dlprof.units import duration, percent, resample, safe, strip

_LABEL = 11
_NAMED = 6
"""Ranks that are named one by one, at most."""
_STRIPS, _WIDTH = 32, 60
"""Ranks whose steps are drawn, at most, and columns of each."""
_PARTS = {
    "input": "waiting for its input",
    "kernels": "in kernels",
    "host": "on the host, outside kernels and input",
    "work": "in its own work, not its input (kernels and host were not told apart)",
}


def print_ranks(
    ranked: RankedRun, summary: RanksSummary, *, file: TextIO, full: bool = False, plain: bool = False
) -> None:
    """Print what the ranks of a training tell.

    Args:
        ranked: The run.
        summary: Its figures.
        file: The stream that it is printed to.
        full: With a row for every rank.
        plain: No colour, only ASCII.
    """
    page = make_page(file, plain=plain, typed=ranked.typed)
    page.line(_head(ranked, summary))
    for label, text, style in _lines(ranked, summary):
        for line in page.wrapped(Text(safe(text), style=style), f"{label:<{_LABEL}}", most=3):
            page.line(line)
    if full:
        _table(page, summary)


def _head(ranked: RankedRun, summary: RanksSummary) -> Text:
    command = ranked.members[0].run.manifest.command.text if ranked.members else ranked.manifest.command.text
    hosts = {one.host for one in summary.ranks}
    where = f"on {next(iter(hosts))}" if len(hosts) == 1 else f"on {len(hosts)} machines"
    of = f" of {ranked.world}" if ranked.world and ranked.world != len(summary.ranks) else ""
    wall = max((one.run.wall_ns or 0 for one in ranked.members), default=0)
    told = f"{len(summary.ranks)}{of} ranks {where}, {duration(wall)}"
    return Text(safe(command or ranked.name), style="bold") + Text(f"  {safe(told)}", style="dim")


def _lines(ranked: RankedRun, summary: RanksSummary) -> Iterator[tuple[str, str, str]]:
    """Label, text and style of each."""
    yield "Steps", _steps(summary), ""
    yield "Straggler", _straggler(summary), ""
    yield "Waits", _waits(summary), ""
    if summary.devices:
        yield "Devices", _devices(summary), ""
    ended = _ended(ranked, summary)
    yield "Ended", ended[0], "yellow" if ended[1] else ""
    first = summary.straggler.rank if summary.straggler is not None else None
    own = next((one.run for one in summary.ranks if first in (None, one.rank)), "rank-000")
    name = ranked.typed
    yield "Next", f"dlprof diagnose {name}   dlprof report {name}/{own}   dlprof report {name} --full", "dim"


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


def _straggler(summary: RanksSummary) -> str:
    slow = summary.straggler
    if slow is None:
        known = sum(one.median_ns is not None for one in summary.ranks) > 1
        return "none: no rank is 5 % of a step slower than the others, step after step" if known else "not known"
    times = summary.of(slow.rank)
    text = f"rank {slow.rank}: {duration(slow.excess_ns)} a step more than the others"
    text += f" ({percent(slow.excess_ns, times.median_ns)} % of its step), {_where(slow)}"
    if slow.last_share is not None:
        text += f"; last to come to {100 * slow.last_share:.0f} % of the collectives"
    return text


def _where(slow: Straggler) -> str:
    how_much = "most of it" if slow.part_ns < slow.excess_ns else "all of it"
    return f"{how_much} {_PARTS[slow.part]}" if slow.part != "work" else _PARTS[slow.part]


def _waits(summary: RanksSummary) -> str:
    known = [one for one in summary.ranks if one.collective_wait_ns is not None]
    if not known:
        return f"in collectives: not measured, because {summary.waits_unknown or 'no plain steps were seen'}"
    most = max(known, key=lambda one: one.collective_wait_ns or 0)
    transfer = sorted(one.collective_transfer_ns or 0 for one in known)[len(known) // 2]
    return (
        f"in collectives, a step: up to {duration(most.collective_wait_ns)} (rank {most.rank}, "
        f"{percent(most.collective_wait_ns, most.median_ns)} % of its step) for ranks that come later, and "
        f"{duration(transfer)} for the transfer (median of the ranks){_clocks(summary)}"
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
    if odd:
        parts.append("; ".join(f"rank {one.rank} {one.ended} after {one.steps} steps" for one in odd[:_NAMED]))
    missing = ranked.missing
    if missing:
        parts.append(f"no run of rank {', '.join(map(str, missing[:_NAMED]))}{' ...' * (len(missing) > _NAMED)}")
    if ranked.lost:
        parts.append("; ".join(f"{name} cannot be opened: {why}" for name, why in list(ranked.lost.items())[:2]))
    if ranked.set_aside:
        parts.append(f"left out: {', '.join(ranked.set_aside[:_NAMED])}, of ranks that began again")
    return "; ".join(parts), bool(odd or missing or ranked.lost)


def _table(page: Page, summary: RanksSummary) -> None:
    page.title("Ranks", "a plain train step of each; -: not known")
    names = ("rank", "steps", "median", "input", "wait", "transfer", "kernels", "batch", "host", "ended")
    table = page.table(*[(name, "left" if name in ("host", "ended") else "right") for name in names])
    for one in summary.ranks:
        times = (one.median_ns, one.input_ns, one.collective_wait_ns, one.collective_transfer_ns, one.kernels_ns)
        table.add_row(
            str(one.rank),
            str(one.steps),
            *(duration(value) for value in times),
            str(one.batch) if one.batch is not None else "-",
            safe(one.host),
            safe(one.ended),
        )
    page.show(table)
    _steps_over_time(page, summary)
    if summary.devices:
        _device_table(page, summary)


def _steps_over_time(page: Page, summary: RanksSummary) -> None:
    """What each rank did itself in each step, as a strip: one scale for all, from nothing to the 98th percentile."""
    known = {rank: steps for rank, steps in summary.each_step.items() if len(steps) > 1}
    if len(known) < 2:
        return
    most = float(np.percentile(np.concatenate(list(known.values())), 98)) or 1.0
    shown = sorted(sorted(known, key=lambda rank: -float(np.median(known[rank])))[:_STRIPS])
    left = f"; the {_STRIPS} ranks with most of {len(known)}" if len(known) > len(shown) else ""
    page.title("Steps of the ranks", f"own work in each, first to last; highest: {duration(most)} and more{left}")
    table = page.table(("rank", "right"), ("own work", "left"), ("median", "right"))
    for rank in shown:
        percents = [100 * float(step) / most for step in known[rank]]
        text = strip(resample(percents, _WIDTH), ascii_only=page.ascii)
        table.add_row(str(rank), text, duration(float(np.median(known[rank]))))
    page.show(table)


def _device_table(page: Page, summary: RanksSummary) -> None:
    page.title("Devices of the ranks", f"of the {summary.devices[0].span_of}; collective: of it beside computation")
    names = ("rank", "device", "span", "idle %", "compute %", "other %", "collective", "beside %", "waited", "last %")
    table = page.table(*[(name, "left" if name == "device" else "right") for name in names])
    found = summary.device_collectives
    for one in summary.devices:
        rank = -1 if one.rank is None else one.rank
        table.add_row(
            str(one.rank),
            safe(one.device),
            duration(one.span_ns),
            percent(one.idle_ns, one.span_ns),
            percent(one.compute_ns, one.span_ns),
            percent(one.non_compute_ns, one.span_ns),
            duration(one.communication_ns),
            percent(one.communication_overlapped_ns, one.communication_ns),
            duration(found.wait_ns.get(rank)),
            f"{100 * found.last_share[rank]:.0f}" if rank in found.last_share else "-",
        )
    page.show(table)
