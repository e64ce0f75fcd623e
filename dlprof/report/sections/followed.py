"""Pythons below the program that were traced as runs of their own: which, how each ended, and where its run is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from rich.text import Text

from dlprof.report import end_words
from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.schema.manifest import Followed, FollowedRun
from dlprof.units import duration, safe

_IN_SHORT = 6
"""Runs that the answer shows."""
_COMMAND = 48
_NONE = "no Python began below it, but for workers of multiprocessing: these are of its run"


def runs(page: Page, report: Report) -> None:
    """The runs; nothing where Pythons were not followed."""
    if report.followed is not None:
        all_runs(page, report)


def all_runs(page: Page, report: Report) -> None:
    """The same, also where they were not: somebody has asked."""
    page.title("Followed", "Pythons below the program that loaded an engine: each is a run of its own")
    told = report.followed
    if told is None:
        page.say("not measured, because it was not asked for (dlprof trace --follow)", indent=2)
        return
    if told.runs:
        names = ("run", "command", "engine", "ended", "wall")
        table = page.table(*[(name, "right" if name == "wall" else "left") for name in names])
        for one in told.runs:
            table.add_row(one.run, _command(one), safe(one.engine or "-"), ended(one), duration(one.wall_ns))
        page.show(table)
    page.say(counted(told), "dim", 2)


def lines(page: Page, report: Report) -> Iterator[Text]:
    """The first of them for the answer, a line each."""
    told = report.followed
    if told is None:
        return
    for one in told.runs[:_IN_SHORT]:
        rest = f"  {safe(one.engine or '')}, {ended(one)}, {duration(one.wall_ns)}: {_command(one)}"
        yield page.cut(Text(one.run, style="bold"), page.console.width // 2) + page.cut(
            Text(rest), page.console.width // 2
        )
    more = len(told.runs) - _IN_SHORT
    yield Text(f"{f'{more} more; ' if more > 0 else ''}{counted(told)}", style="dim")


def counted(told: Followed) -> str:
    """How many Pythons there were, and what became of them."""
    others = told.pythons - len(told.runs) - told.not_followed
    parts = (
        f"{len(told.runs)} followed: dlprof report RUN/children/...",
        f"{told.not_followed} more that loaded an engine: not followed" if told.not_followed else "",
        f"{others} {'other Python' if others == 1 else 'other Pythons'} without an engine" if others > 0 else "",
    )
    return "; ".join(part for part in parts if part) if told.runs or told.pythons else _NONE


def ended(one: FollowedRun) -> str:
    """How it ended."""
    if one.ended == "signalled" and one.signal:
        return end_words.in_short(one.signal)
    words = {"exited": f"exit code {one.exit_code}", "replaced": "replaced (exec)", "running": "still running"}
    return words.get(one.ended, "end not known")


def _command(one: FollowedRun) -> str:
    program, blank, rest = one.command.partition(" ")
    text = safe(f"{PurePath(program).name}{blank}{rest}")
    return text if len(text) <= _COMMAND else f"{text[: _COMMAND - 3]}..."
