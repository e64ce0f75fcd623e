"""The findings of a run: their titles, what they cost, where, and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from dlprof.report import finding_words
from dlprof.report.console import Page
from dlprof.report.model import Cause, Report
from dlprof.schema.vocabulary import Basis
from dlprof.units import ALL, duration, safe


@dataclass(frozen=True)
class Headline:
    """What a finding begins with.

    Attributes:
        title: What it is called for people.
        slug: What it is called for scripts; in small print.
        cost: The time at stake and its share.
    """

    title: str
    slug: str
    cost: str


def headline(page: Page, number: int, told: Headline, *, most: int | None = None) -> list[Text]:
    """The first lines of a finding, folded where they are too long.

    Args:
        page: Where they are printed.
        number: Its rank.
        told: What they say.
        most: 1: one line, for which the title is cut.
    """
    title, slug, tail = told.title, told.slug, f"  {told.cost}"
    if most is None:
        whole = Text(safe(title), style="bold") + Text(tail, style="bold") + Text(f"  {slug}", style="dim")
        return page.wrapped(whole, f"{number}. ")
    room = page.console.width - len(f"{number}. {tail}  {slug}")
    head = page.cut(Text(f"{number}. {safe(title)}", style="bold"), max(20, room + 3))
    return [head + Text(tail, style="bold") + Text(f"  {slug}", style="dim")]


def cost(at_stake_ns: int, share: float, basis: str) -> str:
    """What a finding costs; an estimate says so."""
    if not at_stake_ns:
        return "no time is claimed"
    about = "about " if basis == Basis.ESTIMATED else ""
    if share > ALL:
        return f"{about}{duration(at_stake_ns)}, {share:.1f} x the gap"
    return f"{about}{duration(at_stake_ns)}, {100 * share:.0f} %"


def lines_of(page: Page, number: int, cause: Cause, *, most: int | None = None) -> list[Text]:
    """The headline of a cause of a report."""
    title = finding_words.heading(cause.title, is_question=cause.is_question)
    told = Headline(title, cause.slug, cost(cause.at_stake_ns, cause.share, cause.basis))
    return headline(page, number, told, most=most)


def advice(cause: Cause) -> Text:
    """Where, and what to do."""
    place = Text(safe(f"{cause.file}:{cause.line}") + "  ", style="cyan") if cause.file else Text()
    return place + Text(safe(cause.next_step))


def all_findings(page: Page, report: Report) -> None:
    """Every finding, with what it claims."""
    page.title("Findings", "causes of lost time; no time is counted twice")
    if report.findings is None:
        page.say("this run cannot be diagnosed", indent=2)
        return
    if report.lost_tables:
        page.say("Not all could be looked for: tables are lost (see Health).", "dim", 2)
    elif not report.findings:
        page.say("No cause worth mentioning was found.", indent=2)
    for number, cause in enumerate(report.findings, 1):
        told = page.wrapped(Text(safe(cause.claim)), "   ")
        for line in (*lines_of(page, number, cause), *told, *page.wrapped(advice(cause), "   ")):
            page.line(line)
    if report.not_asked:
        page.say(not_asked(report), "dim", 2)


def not_asked(report: Report) -> str:
    """Which causes were not looked for; empty: all were."""
    if not report.not_asked:
        return ""
    return f"{len(report.not_asked)} kinds of causes were not looked for, for want of time"
