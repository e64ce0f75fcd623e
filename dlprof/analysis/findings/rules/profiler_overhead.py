"""dlprof itself takes a good part of the run."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Rank, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import OWN_PATHS, Ground, Tree

TITLE = Title("dlprof itself slowed the run", "dlprof itself")
_SHARE = 0.05


def look(case: Case) -> Iterator[Claim]:
    """Our own time in the process, and what kernel windows made steps longer."""
    takes = {leaf: case.available.get(leaf, 0) for leaf in OWN_PATHS}
    if sum(takes.values()) < _SHARE * case.whole_ns:
        return
    yield Claim(
        Sentence("dlprof's own work in the process takes", ": not the script's fault."),
        takes,
        [Query("what the probes cost", "SELECT name, state, cost_ns, cost_source FROM probes ORDER BY cost_ns DESC")],
        _next_step(case, of_windows=bool(takes[Tree.TRACING])),
        rank=Rank.WITHOUT_TIME,  # no cause of the script's: told behind those
        support=Support(Ground.STATED),
    )


def _next_step(case: Case, *, of_windows: bool) -> str:
    """What to do: a script that failed did not end early by dlprof's doing, and is not made longer by any setting."""
    process = case.run.manifest.process
    if process.exit_code or process.signal:
        return "The script did not get to its end: mend that first; in a whole run this share is smaller."
    less = "kernel windows (--kernels off)" if of_windows else "lines (--probes=-lines)"
    return f"Trace a longer run, or leave out {less}."
