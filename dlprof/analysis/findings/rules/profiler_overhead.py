"""dlprof itself takes a good part of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow.compute as pc

from dlprof.analysis import counting_cost
from dlprof.analysis.columns import integers
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import OWN_PATHS, Tree, TreePath
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
    takes = {leaf: case.available.get(leaf, 0) for leaf in OWN_PATHS}
    if takes[Tree.TRACING] and _disturbed(case):
        del takes[Tree.TRACING]
    if sum(takes.values()) < _SHARE * case.whole_ns:
        return
    yield Claim(
        Sentence("dlprof's own work in the process takes", ": not the script's fault."),
        takes,
        [Query("what the probes cost", "SELECT name, state, cost_ns, cost_source FROM probes ORDER BY cost_ns DESC")],
        _advice(case, takes),
        rank=Rank.WITHOUT_TIME,  # no cause of the script's: told behind those
        support=Support(Ground.STATED),
    )


def _advice(case: Case, takes: Mapping[TreePath, int]) -> str:
    """What lets it take less: of what takes most."""
    if takes.get(Tree.TRACING, 0) > takes[Tree.OWN]:
        return "Trace a longer run, or leave out kernel windows (--kernels off)."
    if counting_cost.exact_ns(case.run) > takes[Tree.OWN] / 2:
        return "Leave exact out of --lines: where lines are hot they are then counted in windows, within the budget."
    return "Trace a longer run, or leave out lines (--probes=-lines)."


def _disturbed(case: Case) -> bool:
    """Whether other programs had the cores while steps were traced: that is in what these took longer, too."""
    table = case.run.table("machine", ("time_ns", "interval_ns", "others_cpu_pct"))
    table = table.filter(pc.is_valid(table["others_cpu_pct"]))
    end, others = integers(table["time_ns"]), table["others_cpu_pct"].to_numpy()
    begin = end - integers(table["interval_ns"])
    inside = np.zeros(len(end), np.bool_)
    for window in case.run.rows("kernel_windows"):
        inside |= (end > window["start_ns"]) & (begin < window["start_ns"] + window["dur_ns"])
    return bool(inside.any()) and float(others[inside].mean()) >= _OTHERS_PCT
