"""The answer of a run that dlprof traced: where its time went, and the cause that explains most of it."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis.findings.diagnose import NO_TIME
from dlprof.analysis.findings.finding import Diagnosis, Finding, Rank
from dlprof.report import end_words
from dlprof.report.finding_words import OWN
from dlprof.report.model import Report
from dlprof.schema.vocabulary import PROBE_CUT, Basis, ProcessRole
from dlprof.units import duration, percent

_MOST_OF_IT = 0.20
"""A cause of less than this share of the wall time is not the answer."""
_MOST_OF_LAYERS = 0.10
"""An operator of one layer that has less of the wall time need not be named."""
_LITTLE = 0.01
"""Less of the wall time than this need not be said first."""
_COUNTING = 0.05
"""From this share of the wall time on it is said that counting each line took it."""
_PHASES = 3


def of(report: Report, diagnosis: Diagnosis | None, counting_ns: int = 0) -> str:
    """The sentence.

    Args:
        report: The run.
        diagnosis: Its causes; None: they were not looked for, or cannot be.
        counting_ns: What counting each line took, as the user wanted it (ns).
    """
    told = diagnosis.findings if diagnosis is not None else ()
    findings = [one for one in told if one.slug != OWN and one.rank is Rank.BY_TIME]
    ended = "".join(f"{one.heading}. " for one in told if one.rank is Rank.ENDED_THE_RUN)
    cause = _cause(report, findings) or _phases(report, diagnosis, findings)
    return f"{failed(report)}{ended}{_unrecorded(report)}{cause}{_counting(report, counting_ns)}"


def failed(report: Report) -> str:
    """What a script that failed is told first, as a sentence and a blank; empty: it did not."""
    end = report.exit
    if end.signal:
        return f"The script was {end_words.by_signal(end.signal)}. "
    if not end.code:
        return ""
    if end.exception is None:
        return f"The script failed with exit code {end.code}. "
    place = f" at {end.file}:{end.line}" if end.file and end.line else ""
    return f"The script failed: {end.exception}{place} (exit code {end.code}). "


def _unrecorded(report: Report) -> str:
    """What the figures that follow do not speak of, where that is more than a little."""
    end = report.unrecorded
    if end is None or end.share < _LITTLE:
        return ""
    told = (line.message for line in report.health if line.slug == PROBE_CUT)
    return f"{next(told, '')} ".lstrip()


def _counting(report: Report, ns: int) -> str:
    """What the figures hold that is not the script's, where the user wanted each line to be counted."""
    if not report.wall_ns or ns < _COUNTING * report.wall_ns:
        return ""
    share = f"{duration(ns)}, {100 * ns / report.wall_ns:.0f} %"
    return f" Counting each line (--lines exact) took {share} of the wall time: without exact it costs less."


def _cause(report: Report, findings: Sequence[Finding]) -> str:
    """The most costly cause, where it explains enough; else empty."""
    first = next((one for one in findings if not one.is_question), None)
    if first is None or first.share < _MOST_OF_IT:
        return ""
    about = "About " if first.basis == Basis.ESTIMATED else ""
    share = f"{about}{100 * first.share:.0f} % of the {duration(report.wall_ns)}"
    went_to = _went_to(first)
    return f"{share} went to {went_to}." if went_to else f"{share}: {first.heading}."


def _went_to(finding: Finding) -> str:
    return finding.title.went_to if finding.title else ""


def _phases(report: Report, diagnosis: Diagnosis | None, findings: Sequence[Finding]) -> str:
    """Where the time went by phase, where no cause explains it."""
    if report.attached and report.outside:
        return _seen(report)
    wall = report.wall_ns
    top = sorted((phase for phase in report.phases if phase.parent is None), key=lambda phase: -phase.dur_ns)
    if not wall or not top:
        known = "" if report.unrecorded is not None else ": the in-process probe left nothing"
        lost = report.missing("phases")
        known = f": {lost}" if lost else known
        return f"Where the time went is not known{known}."
    shares = ", ".join(
        f"{phase.name} {duration(phase.dur_ns)} ({percent(phase.dur_ns, wall)} %)" for phase in top[:_PHASES]
    )
    what = f"{duration(wall)}" if report.unrecorded is None else f"recorded {duration(report.unrecorded.since_ns)}"
    # Where tables are lost not all causes were looked for; and nobody asks that of a script that failed.
    silent = not findings and (report.lost_tables or report.exit.code or report.exit.signal)
    largest = "" if silent else _largest(diagnosis, findings)
    return f"The {what} went to {shares}{largest}{_stood(diagnosis)}."


def _stood(diagnosis: Diagnosis | None) -> str:
    """Where most of what no cause explains stood: a line, else what was computed; empty: there is no such place."""
    if diagnosis is None:
        return ""
    for rest in diagnosis.rest:
        if rest.stood is not None and rest.share * rest.stood.share >= _MOST_OF_IT:
            doing = f", {rest.stood.doing}" if rest.stood.doing else ""
            share = f"{100 * rest.stood.share:.0f} % of {rest.path.replace('/', '.')}"
            return f"; {share} stood at {rest.stood.file}:{rest.stood.line}{doing}"
    for rest in diagnosis.rest:
        if rest.worked is not None and rest.worked.layer and rest.share * rest.worked.share >= _MOST_OF_LAYERS:
            names = (rest.worked.layer, rest.worked.direction, rest.worked.op)
            return f"; {100 * rest.share * rest.worked.share:.0f} % is {' '.join(name for name in names if name)}"
    for line in diagnosis.lines:
        if line.share >= _MOST_OF_IT:
            doing = f", {line.doing}" if line.doing else ""
            return f"; {line.file}:{line.line} has {100 * line.share:.0f} %{doing}"
    return ""


def _seen(report: Report) -> str:
    """Where a process was seen that ran already: it has no phases."""
    main = next((one for one in report.processes if one.role is ProcessRole.MAIN), None)
    if main is None or not main.top:
        return "Where the time went is not known: no stack of the process was sampled."
    first = main.top[0]
    return f"In {100 * first.share:.0f} % of the samples its main thread stood at {first.file}:{first.line}."


def _largest(diagnosis: Diagnosis | None, findings: Sequence[Finding]) -> str:
    """What the most costly cause is, or that none was found; empty: they were not all looked for."""
    if diagnosis is None or (not findings and any(rule.because == NO_TIME for rule in diagnosis.abstained)):
        return ""
    if not findings:
        own = any(one.slug == OWN for one in diagnosis.findings)
        return f"; no cause of lost time was found{' in the script' if own else ''}"
    first = findings[0]
    about = "about " if first.basis == Basis.ESTIMATED else ""
    perhaps = "perhaps " if first.is_question else ""
    # Findings are ranked by what they cost and how sure they are: the first need not cost most.
    which = "largest single" if first.at_stake_ns >= max(one.at_stake_ns for one in findings) else "surest"
    return f"; {perhaps}the {which} loss is {_went_to(first) or first.heading}, {about}{100 * first.share:.0f} %"
