"""The answer of a run on a terminal: at most 25 lines, and what to type for more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from rich.text import Text

from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.report.sections import causes, followed, head, latency, short
from dlprof.units import duration, safe

MOST_LINES = 25
_FINDINGS = 3
_LABEL = 9
_NO_CAUSE = "No cause is claimed: what the files hold supports none (dlprof diagnose --evidence says what is missing)."
_PARTS = (
    ("Phases", short.phases, 3),
    ("Steps", short.steps, 1),
    ("Latency", latency.in_short, 1),
    ("Kernels", short.kernels, 1),
    ("Lines", lambda report: short.lines(report) if report.imported else "", 1),
    ("Cores", short.cores, 1),
    ("Memory", short.memory, 1),
    ("GPU", short.gpu, 1),
    ("Warning", short.warnings, 2),
)
"""What it is called, what it says, on how many lines at most."""


def print_answer(page: Page, report: Report, name: str) -> None:
    """Print where the time of a run went.

    Args:
        page: Where to.
        report: The run.
        name: What to type for it, such as `last`.
    """
    for line in _within(lines(page, report, name)):
        page.line(line)


def lines(page: Page, report: Report, name: str) -> list[Text]:
    """All lines; empty ones part what belongs together."""
    blocks = [
        [_head(page, report), *page.wrapped(Text(safe(report.verdict)), most=4 if report.imported else 2)],
        list(_findings(page, report)),
        list(followed.lines(page, report)),
        list(_parts(page, report)),
        _next(page, report, name),
    ]
    return [line for block in blocks if block for line in (Text(), *block)]


def _within(every: list[Text]) -> list[Text]:
    """At most so many lines as the report has: empty ones go first."""
    spare = len(every) - MOST_LINES
    kept = []
    for line in reversed(every):
        if spare > 0 and not line.plain:
            spare -= 1
        else:
            kept.append(line)
    return kept[::-1][:MOST_LINES]


def _head(page: Page, report: Report) -> Text:
    if report.imported:
        what, rest = ", ".join(source.file for source in report.sources) or report.run, "imported"
    else:
        what = " ".join([_script(page, report.script or ""), *report.arguments])
        on = "" if report.outside else f" on {head.engine(report)}"
        what, rest = f"{what}{on}", f"{duration(report.wall_ns)}, {head.ended(report)}, {head.versions(report)}"
    name = Text(safe(what), style="bold")
    return page.cut(name, page.console.width // 2) + Text(f"  {safe(rest)}", style="dim")


def _script(page: Page, script: str) -> str:
    """The script; without its folder where that leaves no room for anything else."""
    return script if len(script) <= page.console.width // 3 else PurePath(script).name


def _findings(page: Page, report: Report) -> Iterator[Text]:
    for number, cause in enumerate((report.findings or ())[:_FINDINGS], 1):
        yield causes.line_of(page, number, cause)
        yield from page.wrapped(causes.advice(cause), "   ", most=2)
    if report.imported and report.findings == () and report.devices:
        yield from page.wrapped(Text(_NO_CAUSE, style="dim"), "", most=2)
    more = len(report.findings or ()) - _FINDINGS
    told = [f"{more} more" if more > 0 else "", causes.not_asked(report)]
    if any(told):
        yield Text(f"   {'; '.join(part for part in told if part)}", style="dim")


def _parts(page: Page, report: Report) -> Iterator[Text]:
    for label, part, most in _PARTS:
        text = part(report)
        if text:
            style = "yellow" if label == "Warning" else ""
            yield from page.wrapped(Text(text, style=style), f"{label:<{_LABEL}}", most=most)


def _next(page: Page, report: Report, name: str) -> list[Text]:
    """Commands that tell more; a long name of the run has a line of its own."""
    label = Text(f"{'Next':<{_LABEL}}", style="dim")
    short_one = label + Text(_commands(report, name))
    if short_one.cell_len <= page.console.width:
        return [short_one]
    return [label + Text(_commands(report, "RUN")), Text(f"{' ' * _LABEL}RUN is {name}", style="dim")]


def _commands(report: Report, run: str) -> str:
    diagnose = "" if report.findings is None else f"dlprof diagnose {run}   "
    return f"dlprof view {run}   {diagnose}dlprof report {run} --full"
