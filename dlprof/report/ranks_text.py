"""The report of a run of ranks on a terminal: a few lines, whether there are two ranks or a thousand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

import numpy as np
from rich.text import Text

from dlprof.analysis.ranks import RanksSummary
from dlprof.report import ranks_causes, ranks_words
from dlprof.report.console import Page, make_page
from dlprof.report.ranks_causes import RanksCauses
from dlprof.report.sections import causes
from dlprof.store.ranked import RankedRun
from dlprof.units import duration, percent, resample, safe, strip

_LABEL = 11
_FINDINGS = 2
_STRIPS, _WIDTH = 32, 60
"""Ranks whose steps are drawn, at most, and columns of each."""


def print_ranks(
    ranked: RankedRun,
    summary: RanksSummary,
    found: RanksCauses | None = None,
    *,
    file: TextIO,
    full: bool = False,
    plain: bool = False,
) -> None:
    """Print what the ranks of a training tell.

    Args:
        ranked: The run.
        summary: Its figures.
        found: Why they take so long; None: they were not looked for.
        file: The stream that it is printed to.
        full: With a row for every rank.
        plain: No colour, only ASCII.
    """
    page = make_page(file, plain=plain, typed=ranked.typed)
    page.line(_head(ranked, summary))
    if found is not None:
        _findings(page, found)
    for label, text, style in _lines(ranked, summary):
        for line in page.wrapped(Text(safe(text), style=style), f"{label:<{_LABEL}}", most=3):
            page.line(line)
    if full:
        _table(page, summary)


def _head(ranked: RankedRun, summary: RanksSummary) -> Text:
    told = ranks_words.where(ranked, summary)
    return Text(safe(ranks_words.command(ranked)), style="bold") + Text(f"  {safe(told)}", style="dim")


def _findings(page: Page, found: RanksCauses) -> None:
    """The first causes, each with where it is and what to do, between empty lines."""
    every = [*found.together, *found.alone]
    told = every[:_FINDINGS]
    for number, cause in enumerate(told, 1):
        page.line(Text())
        for line in (*causes.lines_of(page, number, cause), *page.wrapped(causes.advice(cause), "   ", most=4)):
            page.line(line)
        if number > len(found.together):
            page.line(Text(f"   so it is in rank {found.rank}, by itself", style="dim"))
    more = [cause.slug for cause in every[_FINDINGS:]]
    if more:
        page.line(Text(f"   {len(more)} more: {', '.join(more)}", style="dim"))
    if told:
        page.line(Text())


def _lines(ranked: RankedRun, summary: RanksSummary) -> Iterator[tuple[str, str, str]]:
    """Label, text and style of each."""
    for line in ranks_words.lines(ranked, summary):
        yield line.label, line.text, "yellow" if line.bad else ""
    own = ranked.path_of(ranks_causes.shown(ranked, summary)) if ranked.members else "rank-000"
    name = ranked.typed
    yield "Next", f"dlprof diagnose {name}   dlprof view {name}   dlprof report {name}/{own}", "dim"


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
    """What each rank did itself in each step, or its whole steps where that is not known, as a strip.

    All have one scale, from nothing to the 98th percentile.
    """
    known = {rank: steps.own for rank, steps in summary.stretches.items() if len(steps.own) > 1}
    if len(known) < 2:
        return
    most = float(np.percentile(np.concatenate(list(known.values())), 98)) or 1.0
    shown = sorted(sorted(known, key=lambda rank: -float(np.median(known[rank])))[:_STRIPS])
    left = f"; the {_STRIPS} ranks with most of {len(known)}" if len(known) > len(shown) else ""
    is_own = all(summary.stretches[rank].wait is not None for rank in known)
    what, column = ("own work in each", "own work") if is_own else ("with waits for other ranks", "whole steps")
    page.title("Steps of the ranks", f"{what}, first to last; highest: {duration(most)} and more{left}")
    table = page.table(("rank", "right"), (column, "left"), ("median", "right"))
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
