"""dlprof itself takes a good part of the run."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import OWN_PATHS, Tree
from dlprof.schema.vocabulary import Ground

TITLE = Title("dlprof itself slowed the run", "dlprof itself")
_SHARE = 0.05
_OTHERS_PCT = 25.0
"""Use of a core by other programs from which on they may be what made traced steps longer."""


def look(case: Case) -> Iterator[Claim]:
    """Our own time in the process, and what kernel windows made steps longer."""
    process = case.run.manifest.process
    if process.exit_code or process.signal:
        raise Abstain("the script did not get to its end: what dlprof's own start and end take of it says nothing")
    takes = {leaf: case.available.get(leaf, 0) for leaf in OWN_PATHS if leaf != Tree.TRACING or not _disturbed(case)}
    if sum(takes.values()) < _SHARE * case.whole_ns:
        return
    yield Claim(
        Sentence("dlprof's own work in the process takes", ": not the script's fault."),
        takes,
        [Query("what the probes cost", "SELECT name, state, cost_ns, cost_source FROM probes ORDER BY cost_ns DESC")],
        "Trace a longer run, or leave out kernel windows (--kernels off)."
        if takes.get(Tree.TRACING)
        else "Trace a longer run, or leave out lines (--probes=-lines).",
        rank=Rank.WITHOUT_TIME,  # no cause of the script's: told behind those
        support=Support(Ground.STATED),
    )


def _disturbed(case: Case) -> bool:
    """Whether other programs had the cores while steps were traced: that is in what these took longer, too."""
    windows = case.run.rows("kernel_windows")
    rows = case.run.table("machine", ("time_ns", "interval_ns", "others_cpu_pct")).to_pylist()
    inside = [
        row["others_cpu_pct"]
        for row in rows
        for window in windows
        if row["others_cpu_pct"] is not None
        and row["time_ns"] > window["start_ns"]
        and row["time_ns"] - row["interval_ns"] < window["start_ns"] + window["dur_ns"]
    ]
    return bool(inside) and sum(inside) / len(inside) >= _OTHERS_PCT
