"""Runs and comparisons as a few lines of HTML for a notebook: the answer first, then what it rests on.

Self-contained, without script or anything from elsewhere; colours of text and background are the notebook's own, so
that it reads the same in light and dark. Every text that comes from a run is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from dlprof.analysis.compare import Comparison, Item
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.analysis.steps import StepSummary
from dlprof.report import colours, end_words, finding_words, gap_words, step_words
from dlprof.report.model import HealthLine, Report
from dlprof.schema.vocabulary import Phase, Severity
from dlprof.units import duration, percent, safe

_FINDINGS = 3
_ITEMS = 10
_TEXT_MOST = 300
"""Characters of a text from outside that are shown."""
_LABEL_SHARE = 0.09
"""A part of the bar that is narrower has no room for its name."""
_STYLE = """<style>
.dlprof{max-width:60em;line-height:1.4;color:inherit}
.dlprof p{margin:.4em 0}
.dlprof .dim{opacity:.7;font-size:90%}
.dlprof .bad{border-left:4px solid #d55e00;padding-left:.6em}
.dlprof ol{margin:.4em 0;padding-left:1.6em}
.dlprof .bar{display:flex;height:1.6em;margin:.6em 0 .2em;border-radius:3px;overflow:hidden}
.dlprof .bar span{overflow:hidden;white-space:nowrap;font-size:80%;line-height:2em;text-align:center;color:#fff;
text-shadow:0 0 2px #000}
.dlprof .key span{display:inline-block;margin-right:1em;white-space:nowrap;font-size:90%}
.dlprof .key i{display:inline-block;width:.8em;height:.8em;margin-right:.3em;border-radius:2px}
.dlprof table{border-collapse:collapse;margin:.4em 0;background:none;color:inherit}
.dlprof td,.dlprof th{padding:.1em .8em .1em 0;text-align:right;border:none;background:none;color:inherit;
font-variant-numeric:tabular-nums}
.dlprof td:first-child,.dlprof th:first-child{text-align:left}
.dlprof td.gap{width:14em;text-align:left}
.dlprof td.gap div{height:.9em;border-radius:2px}
</style>"""


def of_run(report: Report, found: Diagnosis | None) -> str:
    """A run.

    Args:
        report: Its summary.
        found: Its diagnosis; None: it cannot be diagnosed.
    """
    head = " ".join([PurePath(report.script or report.run).name, *report.arguments])
    where = f"on {report.ran_on}; " if report.ran_on else ""
    return _page(
        f"<p><b>{_text(head)}</b> <span class='dim'>{_text(where)}run {_text(report.run)}; "
        f"{_text(_ended(report))}; {duration(report.wall_ns)}</span></p>",
        f"<p>{_text(report.verdict)}</p>" if not report.imported else "",
        _causes(found),
        _phase_bar(report),
        _steps(report.step_summaries),
        _health(report.health),
    )


def of_comparison(found: Comparison, causes: Diagnosis | None) -> str:
    """A comparison.

    Args:
        found: The comparison.
        causes: Why A is slower; None: it cannot be told.
    """
    sides = "; ".join(gap_words.heading(name, side) for name, side in (("A", found.a), ("B", found.b)))
    return _page(
        f"<p><b>{_text(sides)}</b></p>",
        _fairness(found),
        f"<p>{_text(gap_words.verdict(found))}</p>",
        _why(found, causes),
        _waterfall(found),
    )


def _page(*parts: str) -> str:
    return f"<div class='dlprof'>{_STYLE}{''.join(parts)}</div>"


def _text(text: Any) -> str:
    """A text from outside: no markup, no control characters, not too long."""
    shown = safe(str(text))
    return html.escape(shown if len(shown) <= _TEXT_MOST else f"{shown[:_TEXT_MOST]}…")


def _ended(report: Report) -> str:
    if report.imported:
        return "imported"
    ended = report.exit
    if ended.signal:
        return end_words.by_signal(ended.signal)
    if report.process.went_on:
        return "it still ran when the program was over"
    return "how it ended is not known" if ended.code is None else f"exit code {ended.code}"


def _causes(found: Diagnosis | None) -> str:
    if found is None:
        return ""
    if not found.findings:
        return "<p class='dim'>No cause of lost time was found.</p>"
    shown = [
        f"<li><b>{_text(_heading(finding))}</b> <span class='dim'>{_text(finding.slug)}</span><br>"
        f"{_text(finding.claim)}{_source(finding.file, finding.line)}<br>"
        f"<span class='dim'>{_text(finding.next_step)}{_sureness(finding)}</span></li>"
        for finding in found.findings[:_FINDINGS]
    ]
    more = len(found.findings) - len(shown)
    rest = f"<p class='dim'>and {more} more: findings()</p>" if more > 0 else ""
    return f"<ol>{''.join(shown)}</ol>{rest}"


def _heading(finding: Finding) -> str:
    return finding_words.heading(finding.heading, is_question=finding.is_question)


def _sureness(finding: Finding) -> str:
    told = finding_words.sureness(finding.confidence, finding.of_its_kind_ns)
    return f" ({_text(told)})" if told else ""


def _why(found: Comparison, causes: Diagnosis | None) -> str:
    """Causes of what takes longer in A, and where those of the other side are to be had."""
    told = _causes(causes) if found.longer_in_a or (not found.noise and found.gap_ns > 0) else ""
    if found.longer_in_b:
        told += "<p class='dim'>compare(b, a) names the causes of what takes longer in B.</p>"
    return told


def _source(file: str | None, line: int | None) -> str:
    return f" <code>{_text(file)}:{_text(line)}</code>" if file else ""


def _phase_bar(report: Report) -> str:
    """The wall time as one bar of the phases that have no parts."""
    wall = report.wall_ns
    parents = {phase.parent for phase in report.phases}
    parts = [(phase.name, phase.dur_ns) for phase in report.phases if phase.name not in parents]
    leaves = [(name, ns) for name, ns in [*parts, (Phase.UNATTRIBUTED, report.unattributed_ns)] if ns]
    if not wall or not leaves:
        return ""
    bar = "".join(
        f"<span style='width:{100 * ns / wall:.2f}%;background:{colours.of_phase(name)}' "
        f"title='{_text(name)}: {duration(ns)}'>{_text(name) if ns >= _LABEL_SHARE * wall else ''}</span>"
        for name, ns in leaves
    )
    key = "".join(
        f"<span><i style='background:{colours.of_phase(name)}'></i>{_text(name)} {duration(ns)} "
        f"({percent(ns, wall)} %)</span>"
        for name, ns in sorted(leaves, key=lambda leaf: -leaf[1])
    )
    return f"<div class='bar'>{bar}</div><div class='key'>{key}</div>"


def _steps(loops: Sequence[StepSummary]) -> str:
    if not loops:
        return ""
    rows = []
    for loop in loops:
        rate = "-" if loop.samples_per_s is None else f"{loop.samples_per_s:,.0f}"
        times = [duration(ns) for ns in (loop.first_ns, loop.median_ns, loop.p95_ns)]
        rows.append((loop.loop, f"{loop.count}", *times, rate, f"{loop.compiled}", step_words.how(loop)))
    return _table(("steps", "count", "first", "median", "p95", "samples/s", "compiled", "how"), rows)


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _health(rows: Sequence[HealthLine]) -> str:
    shown = [row for row in rows if row.severity in (Severity.WARNING, Severity.ERROR)]
    return "".join(f"<p class='bad'>{_text(row.severity)}: {_text(row.message)}</p>" for row in shown)


def _fairness(found: Comparison) -> str:
    if not found.parity.why_not:
        return "<p>Comparable, as far as seen.</p>"
    helps = "".join(f"<p>What helps with {_text(what)}</p>" for what in found.parity.advice)
    return f"<p class='bad'>Not comparable, because {_text('; '.join(found.parity.why_not))}.</p>{helps}"


def _waterfall(found: Comparison) -> str:
    """The parts with the largest differences, each as a bar to the right (A takes longer) or to the left."""
    shown = found.items[:_ITEMS]
    largest_ns = max((abs(item.delta_ns) for item in shown), default=0) or 1
    rest = found.items[_ITEMS:]
    more = f"<p class='dim'>and {len(rest)} smaller parts: items()</p>" if rest else ""
    names = ("part", "A", "B", "A &minus; B", "", "")
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(f"<tr>{_difference(item, largest_ns)}</tr>" for item in shown)
    return f"<table><tr>{head}</tr>{body}</table>{more}"


def _difference(item: Item, largest_ns: int) -> str:
    """The cells of a part; the longest bar is half a cell."""
    width = 50 * abs(item.delta_ns) / largest_ns
    left = 50 if item.delta_ns > 0 else 50 - width
    colour = colours.NOISE if item.noise else colours.SLOWER if item.delta_ns > 0 else colours.FASTER
    drawn = f"<div style='margin-left:{left:.1f}%;width:{width:.1f}%;background:{colour}'></div>"
    noise = "noise" if item.noise else ""
    cells = (item.path, duration(item.a_ns), duration(item.b_ns), gap_words.signed(item.delta_ns), noise)
    return "".join(f"<td>{_text(cell)}</td>" for cell in cells) + f"<td class='gap'>{drawn}</td>"
