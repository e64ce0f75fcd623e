"""The answer of a run on a terminal: at most 30 lines, and what to type for more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from rich.text import Text

from dlprof.report import finding_words, no_training
from dlprof.report.console import Page
from dlprof.report.model import Cause, Report
from dlprof.report.sections import causes, followed, head, latency, short
from dlprof.units import duration, safe

MOST_LINES = 30
_FINDINGS = 3
_LABEL = 9
_NO_CAUSE = "No cause is claimed: what the files hold supports none (dlprof diagnose --evidence says what is missing)."
_LONG = ("Phases", "Warning")
"""Parts that may be cut where others are not: they name many things, the most important ones first."""
_PARTS = (
    ("Phases", short.phases, 3),
    ("Steps", short.steps, 1),
    ("Latency", latency.in_short, 1),
    ("Kernels", short.kernels, 1),
    ("Lines", lambda report: short.lines(report) if report.imported else "", 1),
    ("Cores", short.cores, 1),
    ("Memory", short.memory, 1),
    ("GPU", short.gpu, 1),
    ("Overhead", short.overhead, 2),
    ("Warning", short.warnings, 2),
)
"""What it is called, what it says, on how many lines at most where it is cut."""


def print_answer(page: Page, report: Report, name: str, ran_on: str = "another Python") -> None:
    """Print where the time of a run went.

    Args:
        page: Where to.
        report: The run.
        name: What to type for it, such as `last`.
        ran_on: The interpreter that ran it, for people.
    """
    for line in _within(lines(page, report, name, ran_on)):
        page.line(line)


def lines(page: Page, report: Report, name: str, ran_on: str) -> list[Text]:
    """All lines; empty ones part what belongs together.

    Nothing is cut where there is room without the last findings: what to do, and where, is of use as a whole only.
    """
    if no_training.failed_at_once(report):
        return _failed(page, report, ran_on)
    for findings in range(_FINDINGS, 0, -1):
        told = _told(page, report, name, ran_on, _Room(findings))
        if sum(bool(line.plain) for line in told) <= MOST_LINES:
            return told
    return _told(page, report, name, ran_on, _Room(_FINDINGS, cut=True))


@dataclass(frozen=True)
class _Room:
    """How much is told: how many findings, and whether sentences are cut to a few lines."""

    findings: int
    cut: bool = False

    def most(self, lines: int) -> int | None:
        """On how many lines a sentence may be."""
        return lines if self.cut else None


def _told(page: Page, report: Report, name: str, ran_on: str, room: _Room) -> list[Text]:
    blocks = [
        [*_head(page, report, room), *_verdict(page, report, ran_on, room)],
        list(_findings(page, report, room)),
        list(followed.lines(page, report)),
        list(_parts(page, report, room)),
        _next(page, report, name),
    ]
    return [line for block in blocks if block for line in (Text(), *block)]


def _failed(page: Page, report: Report, ran_on: str) -> list[Text]:
    """What is told of a script that failed before there was anything to explain."""
    told = f"{no_training.failure(report)} {no_training.missing_module(report, ran_on)}".strip()
    warning = short.warnings(report)
    warned = page.wrapped(Text(warning, style="yellow"), f"{'Warning':<{_LABEL}}") if warning else []
    return [Text(), *_head(page, report, _Room(0)), *page.wrapped(Text(safe(told))), *warned]


def _verdict(page: Page, report: Report, ran_on: str, room: _Room) -> list[Text]:
    told = no_training.shortness(report) if no_training.too_short(report) else report.verdict
    told = f"{told} {no_training.missing_module(report, ran_on)}".strip()
    return page.wrapped(Text(safe(told)), most=room.most(4 if report.imported else 2))


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


def _head(page: Page, report: Report, room: _Room) -> list[Text]:
    if report.imported:
        what, rest = ", ".join(source.file for source in report.sources) or report.run, "imported"
    else:
        what = " ".join([_script(page, report.script or ""), *report.arguments])
        on = "" if report.outside else f" on {head.engine(report)}"
        what, rest = f"{what}{on}", f"{duration(report.wall_ns)}, {head.ended(report)}, {head.versions(report)}"
    name = Text(safe(what), style="bold")
    name = page.cut(name, page.console.width // 2) if room.cut else name
    return page.wrapped(name + Text(f"  {safe(rest)}", style="dim"), most=room.most(1))


def _script(page: Page, script: str) -> str:
    """The script; without its folder where that leaves no room for anything else."""
    return script if len(script) <= page.console.width // 3 else PurePath(script).name


def _findings(page: Page, report: Report, room: _Room) -> Iterator[Text]:
    found = _causes(report)
    for number, cause in enumerate(found[: room.findings], 1):
        yield from causes.lines_of(page, number, cause, most=room.most(1))
        yield from page.wrapped(causes.advice(cause), "   ", most=room.most(2))
    if report.imported and report.findings == () and report.devices:
        yield from page.wrapped(Text(_NO_CAUSE, style="dim"), "", most=2)
    more = len(found) - room.findings
    told = [f"{more} more" if more > 0 else "", causes.not_asked(report)]
    if any(told):
        yield Text(f"   {'; '.join(part for part in told if part)}", style="dim")


def _causes(report: Report) -> Sequence[Cause]:
    """The findings; of a script that does next to nothing dlprof itself takes most, which is no news."""
    found = report.findings or ()
    return [cause for cause in found if cause.slug != finding_words.OWN] if no_training.too_short(report) else found


def _parts(page: Page, report: Report, room: _Room) -> Iterator[Text]:
    for label, part, most in _PARTS:
        text = part(report)
        if text:
            style = "yellow" if label == "Warning" else ""
            most_lines = most if label in _LONG else room.most(most)
            yield from page.wrapped(Text(text, style=style), f"{label:<{_LABEL}}", most=most_lines)


def _next(page: Page, report: Report, name: str) -> list[Text]:
    """Commands that tell more; a long name of the run has a line of its own."""
    label = Text(f"{'Next':<{_LABEL}}", style="dim")
    short_one = label + Text(_commands(report, name))
    if short_one.cell_len <= page.console.width:
        return [short_one]
    commands = page.wrapped(Text(_commands(report, "RUN")), f"{'Next':<{_LABEL}}")
    return [*commands, Text(f"{' ' * _LABEL}RUN is {name}", style="dim")]


def _commands(report: Report, run: str) -> str:
    diagnose = "" if report.findings is None else f"dlprof diagnose {run}   "
    return f"dlprof view {run}   {diagnose}dlprof report {run} --full"
