"""A diagnosis on a terminal: causes, the dearest first, each with what to do and what shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from dlprof.analysis.findings.finding import Diagnosis, Evidence, Finding
from dlprof.report.console import Page, is_ascii, make_console
from dlprof.units import bar, duration, safe

_BAR = 24
_ROWS = 4
_CELL = 44


def print_diagnosis(
    found: Diagnosis, title: str, *, file: TextIO, evidence: bool = False, plain: bool = False, note: str = ""
) -> None:
    """Print a diagnosis.

    Args:
        found: The diagnosis.
        title: What was diagnosed.
        file: Where to.
        evidence: Show rows and queries behind each finding.
        plain: No colour, only ASCII.
        note: A sentence before the findings, such as the verdict of the comparison.
    """
    page = _Printer(make_console(file, plain=plain), ascii_only=is_ascii(file, plain))
    page.print(found, title, note, evidence=evidence)


class _Printer(Page):
    def print(self, found: Diagnosis, title: str, note: str, *, evidence: bool) -> None:
        self.console.print()
        self.say(safe(title), "bold")
        if note:
            self.say(safe(note))
        if not found.findings:
            self.console.print()
            self.say("No cause that is worth a word was found.")
        for number, finding in enumerate(found.findings, 1):
            self._finding(number, finding, evidence=evidence)
        self._left(found)
        if evidence:
            self._abstained(found)
        elif found.findings:
            text = "rows behind each finding, and rules that could not tell: --evidence; try the remedies: --confirm"
            self.say(text, "dim")

    def _finding(self, number: int, finding: Finding, *, evidence: bool) -> None:
        self.console.print()
        head = f"{number}. {finding.slug}  {duration(finding.at_stake_ns)}  {100 * finding.share:.0f} %"
        told = "" if finding.state == "untested" else f"  {finding.state}"
        self.say(f"{head}{told}  {bar(finding.share, _BAR, ascii_only=self.ascii)}", "bold")
        self.say(safe(finding.claim), indent=3)
        if finding.file:
            self.say(safe(f"at {finding.file}:{finding.line}"), "cyan", 3)
        self.say(safe(finding.next_step), indent=3)
        if finding.saving_ns is not None:
            predicted, achieved = (duration(finding.saving_ns.get(name)) for name in ("predicted", "achieved"))
            remedy = finding.remedy.title if finding.remedy else ""
            self.say(safe(f"tried: {remedy}: predicted {predicted}, saved {achieved}"), "bold", 3)
        elif finding.not_tried is not None and finding.remedy:
            self.say(safe(f"{finding.remedy.title} could not be tried: {finding.not_tried}"), "dim", 3)
        elif finding.basis == "estimated":
            hint = "; --confirm measures it" if finding.remedy else ""
            self.say(f"the time is an estimate{hint}", "dim", 3)
        if evidence:
            for one in finding.evidence:
                self._evidence(one)

    def _evidence(self, one: Evidence) -> None:
        self.say(safe(f"{one.what}:"), "dim", 3)
        if one.rows:
            names = list(one.rows[0])
            table = self.table(
                *[(name, "right" if _is_number(one.rows[0][name]) else "left") for name in names], ("", "left")
            )
            for row in one.rows[:_ROWS]:
                table.add_row(*[_cell(name, row) for name in names], "")
            self.show(table)
        self.say(safe(f'dlprof sql RUN "{one.sql}"'), "dim", 3)

    def _left(self, found: Diagnosis) -> None:
        if not found.findings:
            return
        explained, whole = found.explained_ns, found.whole_ns
        self.console.print()
        if explained > whole:  # of a gap: what one side loses in some parts it gains in others
            self.say(f"These causes explain {duration(explained)}; the gap is only {duration(whole)}, because other "
                     f"parts are faster by {duration(explained - whole)}.")  # fmt: skip
            return
        self.say(f"These causes explain {duration(explained)}, {100 * explained / max(1, whole):.0f} % of "
                 f"{duration(whole)}; {duration(whole - explained)} is the rest.")  # fmt: skip

    def _abstained(self, found: Diagnosis) -> None:
        if found.abstained:
            self.title("Rules that could not tell")
            for one in found.abstained:
                self.say(safe(f"{one.slug}: {one.because}"), "dim", 2)


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
