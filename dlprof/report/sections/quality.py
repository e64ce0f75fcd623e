"""What measuring cost, and what went wrong with it."""

from __future__ import annotations

from rich.text import Text

from dlprof.report import overhead_words
from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.schema.manifest import Thinned
from dlprof.schema.vocabulary import ProbeState, Severity
from dlprof.units import duration, safe

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow"}
_FINE = (ProbeState.ON, ProbeState.OFF)


def costs(page: Page, report: Report) -> None:
    """What each probe cost, as far as known."""
    page.title("Overhead ledger", spent(report))
    table = page.table(
        ("probe", "left"),
        ("state", "left"),
        ("cost", "right"),
        ("of the run", "right"),
        ("how known, or why not", "left"),
    )
    for probe in report.probes:
        why = "; ".join(part for part in (probe.reason, probe.cost_source, thinned(probe.thinned)) if part)
        style = "" if probe.state in _FINE else "yellow"
        table.add_row(
            probe.name, Text(probe.state, style=style), duration(probe.cost_ns), _share(probe.share), safe(why)
        )
    table.columns[-1].no_wrap = False
    table.columns[-1].overflow = "fold"
    page.show(table)
    parts = overhead_words.parts(report)
    if parts:
        page.say(f"in all: {parts}", indent=2)


def spent(report: Report) -> str:
    """What all probes together took of the run, and what they were to take at most."""
    told = overhead_words.share(report)
    return f"what the run waited for: {told}" if told else "what each probe cost, as far as known"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def thinned(told: Thinned | None) -> str:
    """What was thinned, in a phrase; empty: nothing."""
    return f"thinned from {told.before:g} to {told.to:g} {told.what}: {told.why}" if told else ""


def health(page: Page, report: Report) -> None:
    """What was dropped, cut, killed or odd."""
    page.title("Health")
    if not report.health:
        page.say("nothing was dropped, cut or killed", indent=2)
    for line in report.health:
        style = next((style for severity, style in _STYLES.items() if severity == line.severity), "")
        page.say(f"{line.severity}: {safe(line.message)} [{line.slug}]", style, 2)
