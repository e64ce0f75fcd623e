"""A diagnosis on a terminal: causes, the most costly first, each with what to do and what shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from rich.text import Text

from dlprof.analysis.findings.finding import Diagnosis, Evidence, Finding, Rank
from dlprof.analysis.findings.rest import LoopLine, Rest
from dlprof.report import finding_words
from dlprof.report.console import Column, Page, make_page
from dlprof.report.sections import causes
from dlprof.schema.vocabulary import Basis, FindingState, Whole
from dlprof.units import bar, duration, safe, times

_BAR = 24
_ROWS = 4
_CELL = 44


def print_diagnosis(
    diagnosis: Diagnosis, title: str, *, file: TextIO, evidence: bool = False, plain: bool = False, note: str = ""
) -> None:
    """Print a diagnosis.

    Args:
        diagnosis: The diagnosis.
        title: What was diagnosed.
        file: The stream that it is printed to.
        evidence: Show rows and queries behind each finding, and what could not be judged.
        plain: No colour, only ASCII.
        note: A sentence before the findings, such as the verdict of the comparison.
    """
    page = make_page(file, plain=plain)
    page.console.print()
    page.say(safe(title), "bold")
    if note:
        page.say(safe(note))
    if not diagnosis.findings:
        page.console.print()
        page.say("No cause worth mentioning was found." + " Most of the time went to:" * bool(diagnosis.rest))
    for number, finding in enumerate(diagnosis.findings, 1):
        _finding(page, number, finding)
        for shown in finding.evidence if evidence else ():
            _evidence(page, shown)
    _explained(page, diagnosis)
    for rest in diagnosis.rest:
        page.say(safe(_rest(rest)), indent=2)
    for line in diagnosis.lines:
        page.say(safe(_loop_line(line)), indent=2)
    if evidence:
        _abstained(page, diagnosis)
    elif diagnosis.findings:
        text = "rows behind each finding, and what could not be judged: --evidence"
        if any(one.can_be_tried and not one.was_tried for one in diagnosis.findings):
            text += "; try the remedies: --confirm"
        page.say(text, "dim")


def _finding(page: Page, number: int, finding: Finding) -> None:
    page.console.print()
    for folded in _head(page, number, finding):
        page.line(folded)
    page.line(Text(f"   {bar(finding.share, _BAR, ascii_only=page.ascii)}"))
    page.say(safe(finding.claim), indent=3)
    if finding.file:
        page.say(safe(f"at {finding.file}:{finding.line}"), "cyan", 3)
    page.say(safe(_advice(finding)), indent=3)
    for line in (finding.fix or "").splitlines():
        page.say(safe(line), "green", 5)
    _trial(page, finding)


def _advice(finding: Finding) -> str:
    if finding.confidence >= 1:
        return finding.next_step
    if not finding.is_question:
        cost_ns = finding.of_its_kind_ns
        return f"{finding.next_step} ({finding_words.sureness(finding.confidence, cost_ns)})"
    if finding.was_tried:
        return f"Only perhaps ({100 * finding.confidence:.0f} %), by what was recorded. {finding.next_step}"
    tell = "--confirm" if finding.can_be_tried else "--evidence, and a run with the change"
    return f"Only perhaps ({100 * finding.confidence:.0f} %); this would tell: {tell}. {finding.next_step}"


def _head(page: Page, number: int, finding: Finding) -> list[Text]:
    state = "" if finding.state == FindingState.UNTESTED else f"  {finding_words.state(finding.state)}"
    cost = causes.cost(finding.at_stake_ns, finding.share, finding.basis)
    heading = finding_words.heading(finding.heading, is_question=finding.is_question)
    return causes.headline(page, number, causes.Headline(heading, finding.slug, f"{cost}{state}"))


def _trial(page: Page, finding: Finding) -> None:
    """What came of the remedy, or how sure the time is without that."""
    remedy = finding.remedy.title if finding.remedy else ""
    if finding.saving_ns is not None:
        predicted, achieved = (duration(finding.saving_ns.get(name)) for name in ("predicted", "achieved"))
        page.say(safe(f"tried: {remedy}: predicted {predicted}, saved {achieved}"), "bold", 3)
    elif finding.not_tried is not None and remedy:
        page.say(safe(f"{remedy} could not be tried: {finding.not_tried}"), "dim", 3)
    elif finding.basis == Basis.ESTIMATED and finding.can_be_tried:
        page.say("--confirm measures what it saves", "dim", 3)


def _evidence(page: Page, evidence: Evidence) -> None:
    page.say(safe(f"{evidence.what}:"), "dim", 3)
    if evidence.rows:
        first = evidence.rows[0]
        columns: list[Column] = [(name, "right" if _is_number(value) else "left") for name, value in first.items()]
        table = page.table(*columns, ("", "left"))
        for row in evidence.rows[:_ROWS]:
            table.add_row(*[_cell(name, row) for name in first], "")
        page.show(table)
    page.say(safe(f'dlprof sql RUN "{evidence.sql}"'), "dim", 3)


def _falls(diagnosis: Diagnosis) -> bool:
    """Whether the times at stake fall from the first finding to the last."""
    times = [one.at_stake_ns for one in diagnosis.findings if one.rank is Rank.BY_TIME]
    return times == sorted(times, reverse=True)


def _explained(page: Page, diagnosis: Diagnosis) -> None:
    """How much of the whole the causes explain."""
    if not diagnosis.findings:
        return
    explained, whole = diagnosis.explained_ns, diagnosis.whole_ns
    page.console.print()
    if not _falls(diagnosis):
        page.say("The order is that of the time at stake times the confidence.", "dim")
    if explained > whole and diagnosis.whole is Whole.GAP:  # what one side loses in some parts it gains in others
        page.say(
            f"These causes explain {duration(explained)}; the gap is only {duration(whole)}, because other "
            f"parts are faster by {duration(explained - whole)}."
        )
        return
    if not explained:
        page.say(f"No time is claimed for these; all of {_whole(diagnosis)} is the rest.")
        return
    share = 100 * explained / max(1, whole)
    page.say(
        f"These causes explain {duration(explained)}, {share:.0f} % of {_whole(diagnosis)}; "
        f"{duration(whole - explained)} is the rest."
    )


def _rest(rest: Rest) -> str:
    """`script 2.10 s, 41 %: 96 % at train.py:33, in backend_compile (jax/_src/compiler.py), compiling`."""
    text = f"{rest.path.replace('/', '.')} {duration(rest.ns)}, {100 * rest.share:.0f} %"
    stood = rest.stood
    if rest.worked is not None:
        names = (rest.worked.layer or "no layer", rest.worked.direction, rest.worked.op)
        text = f"{text}: {100 * rest.worked.share:.0f} % {', '.join(name for name in names if name)}"
    if stood is None:
        return text
    text = f"{text}: {100 * stood.share:.0f} % at {stood.file}:{stood.line}"
    if stood.function_file == stood.file and not stood.function.startswith("<"):
        text = f"{text}, in {stood.function}"
    elif stood.function_file != stood.file:
        text = f"{text}, in {stood.function} ({stood.function_file})"
    return f"{text}, {stood.doing}" if stood.doing else text


def _loop_line(line: LoopLine) -> str:
    """`train.py:33 has 2.10 s, 21 %, of the training: ran 12,000 times, 0.18 ms each; computing gradients`."""
    text = f"{line.file}:{line.line} has {duration(line.ns)}, {100 * line.share:.0f} %, in the training"
    if line.hits and line.each_ns is not None:
        text = f"{text}: ran {times(line.hits)}, {duration(line.each_ns)} each"
    return f"{text}; {line.doing}" if line.doing else text


def _whole(diagnosis: Diagnosis) -> str:
    time = duration(diagnosis.whole_ns)
    if diagnosis.whole is Whole.TRACED:
        return f"the {time} that were traced"
    return f"the {time} that some parts take longer" if diagnosis.whole is Whole.LONGER else time


def _abstained(page: Page, diagnosis: Diagnosis) -> None:
    if diagnosis.abstained:
        page.title("Not judged, for want of data")
        by_reason: dict[str, list[str]] = {}
        for rule in diagnosis.abstained:
            by_reason.setdefault(rule.because, []).append(rule.slug)
        for reason, slugs in by_reason.items():
            page.say(safe(f"{', '.join(slugs)}: {reason}"), "dim", 2)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(name: str, row: Mapping[str, Any]) -> str:
    value = row[name]
    if value is None:
        return "-"
    if name.endswith("_ns") and _is_number(value):
        return duration(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return safe(str(value))[:_CELL]
