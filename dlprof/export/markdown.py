"""What TensorBoard shows as text: phases and findings, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.report.markdown_text import plain
from dlprof.store.run import Run
from dlprof.units import duration, percent


def phases(run: Run) -> str:
    """The table of phases, with the share of the wall time of each."""
    rows = [
        (plain(row["phase"]), duration(row["dur_ns"]), percent(row["dur_ns"], run.wall_ns), str(row["count"]))
        for row in run.rows("phases")
    ]
    return _table(("phase", "time", "% of the run", "entries"), rows)


def findings(diagnosis: Diagnosis) -> str:
    """The findings of `dlprof diagnose`, the most expensive first."""
    if not diagnosis.findings:
        return "No cause worth mentioning was found."
    share = percent(diagnosis.explained_ns, diagnosis.whole_ns)
    explained = (
        f"These causes explain {duration(diagnosis.explained_ns)} of {duration(diagnosis.whole_ns)} ({share} %)."
    )
    return "\n\n".join([*(_finding(rank, finding) for rank, finding in enumerate(diagnosis.findings, 1)), explained])


def _finding(rank: int, finding: Finding) -> str:
    cost = f"{duration(finding.at_stake_ns)}, {100 * finding.share:.0f} % ({finding.basis})"
    lines = [f"### {rank}\\. {plain(finding.heading)}: {cost}", plain(finding.claim)]
    if finding.file:
        lines.append(f"At {plain(finding.file)}:{finding.line}")
    return "\n\n".join([*lines, plain(finding.next_step)])


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are Markdown already; the first column is text, the others are figures."""
    ruler = "|".join(["---", *["---:"] * (len(names) - 1)])
    return "\n".join([f"|{'|'.join(names)}|", f"|{ruler}|", *[f"|{'|'.join(row)}|" for row in rows]])
