"""How a report begins and ends: what was run and how it ended, where the time went, and which command tells more."""

from __future__ import annotations

import math

from rich.text import Text

from dlprof.report import end_words
from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.schema.manifest import Machine
from dlprof.schema.vocabulary import RunState
from dlprof.units import duration, safe

_SOURCES_NAMED = 4


def traced(page: Page, report: Report) -> None:
    """What was run, on what, and where the time went."""
    arguments = " ".join([report.script or "", *report.arguments])
    on = "" if report.outside else f"  on {engine(report)}"
    page.console.print()
    page.say(safe(f"{arguments}{on}"), "bold")
    page.say(f"{versions(report)}; {cores(report.machine)}, {report.machine.cpu or 'unknown CPU'}", "dim")
    page.say(f"run {report.run}; {ended(report)}; wall time {duration(report.wall_ns)}", "dim")
    page.console.print()
    page.say(report.verdict)


def versions(report: Report) -> str:
    """Versions of Keras, the engine and Python, as far as known."""
    parts = (_keras(report), _engine(report), f"Python {report.python_version}" if report.python_version else "")
    return ", ".join(part for part in parts if part)


def engine(report: Report) -> str:
    """What it ran on: the backend of Keras, or an engine without it."""
    return report.ran_on or "no engine that dlprof knows"


def cores(machine: Machine) -> str:
    """How many cores there are, and how many of them the process might use where that is less."""
    if not machine.cores:
        return "an unknown number of cores"
    usable = min(machine.usable_cores or machine.cores, machine.quota_cores or math.inf)
    limited = f", of which it may use {usable:g}" if usable < machine.cores else ""
    return f"{machine.cores} core{'s' * (machine.cores > 1)}{limited}"


def _keras(report: Report) -> str:
    """The version of Keras: as it said itself; else, where nobody saw whether it was loaded, as its package says."""
    if report.keras_version:
        return f"Keras {report.keras_version}"
    native = (report.backend or "").startswith("native-")
    unseen = report.unrecorded is not None or (report.backend and not report.phases)
    installed = report.versions.get("keras") if unseen and not native else None
    if installed:
        return f"Keras {installed} installed"
    if report.attached and report.outside:
        return "looked at from the outside"
    return "run from the outside" if report.outside else "no Keras"


def _engine(report: Report) -> str:
    engine = report.engine
    return f"{engine.name} {engine.version or ''}".strip() if engine is not None else ""


def ended(report: Report) -> str:
    """How the process ended, for people."""
    if report.exit.signal:
        return end_words.by_signal(report.exit.signal)
    if report.attached:
        return "a process that ran already"
    if report.process.went_on:
        return "it still ran when the program was over"
    if report.exit.code is None:
        by = ": dlprof was killed" if report.state == RunState.RUNNING else ""
        return f"how it ended is not known{by}"
    text = f"exit code {report.exit.code}"
    return f"{text}, interrupted" if report.state == RunState.INTERRUPTED else text


def imported(page: Page, report: Report) -> None:
    """Which files a run of foreign traces was made of."""
    page.console.print()
    names = ", ".join(source.file for source in report.sources[:_SOURCES_NAMED])
    more = len(report.sources) - _SOURCES_NAMED
    page.say(safe(f"{names}{f' and {more} more' if more > 0 else ''}"), "bold")
    if report.wall_ns is None:
        page.say(f"imported as {report.run}; no event in it tells when it was", "dim")
    else:
        page.say(f"imported as {report.run}; {duration(report.wall_ns)} from the first to the last event", "dim")
    page.console.print()
    page.say(safe(report.verdict))
    page.title("Sources")
    sources(page, report)


def sources(page: Page, report: Report) -> None:
    """The files, with their formats."""
    table = page.table(("file", "left"), ("format", "left"), ("events", "right"), ("begins at", "right"))
    for source in report.sources:
        events = "-" if source.events is None else f"{source.events:,}"
        begin = duration(report.window_starts.get(source.file)) if source.events else "-"
        table.add_row(Text(safe(source.file)), source.format, events, begin)
    page.show(table)


def next_steps(page: Page, report: Report) -> None:
    """Commands that tell more of the run."""
    name = page.typed or report.run
    page.console.print()
    page.say(
        f'more: dlprof lines {name}   dlprof sql {name} "SELECT * FROM steps"   dlprof report {name} --json', "dim"
    )
