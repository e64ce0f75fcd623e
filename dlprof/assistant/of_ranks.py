"""What tools answer of the ranks of one training together; of each by itself they answer as of any run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlprof.analysis import ranks as analysis
from dlprof.analysis.findings import of_ranks
from dlprof.errors import UsageError
from dlprof.pipeline import ranked
from dlprof.report import diagnosis_json, ranks_causes, ranks_json
from dlprof.report.diagnosis_json import DiagnosisReport
from dlprof.report.ranks_json import RanksReport
from dlprof.store.ranked import RankedRun


def named(run: str, parts: Sequence[str] | None = None) -> RankedRun | None:
    """The run of ranks that is meant; None: it is one run, or what is asked for is the launcher's own.

    Args:
        run: As any tool takes it.
        parts: Parts of a report that are asked for.

    Raises:
        UsageError: Ranks together have no such part.
    """
    found = ranked.find(run)
    if found is None or not found.members:
        return None
    unknown = [name for name in parts or () if name not in RanksReport.__struct_fields__]
    if not unknown:
        return found
    if found.program is not None:
        return None
    known = ", ".join(RanksReport.__struct_fields__)
    hint = f"there are: {known}; of a rank by itself: call report with run={_rank(run, found)!r}"
    raise UsageError(f"A report of ranks has no part {unknown[0]}.", hint=hint)


def report(run: RankedRun, parts: Sequence[str] | None) -> RanksReport | dict[str, Any]:
    """The report of a run of ranks (`dlprof.ranks/1`), or parts of it."""
    made = ranks_json.as_json(run, analysis.of_run(run))
    return {name: getattr(made, name) for name in parts} if parts else made


def findings(run: RankedRun) -> DiagnosisReport:
    """What the ranks of a training lose to each other."""
    return diagnosis_json.as_json(of_ranks.look(run, analysis.of_run(run)), (run.name,), None)


def hint(typed: str, run: RankedRun) -> str:
    """What tells what a rank loses by itself: the rank that the others wait for, or the first."""
    return f"What a rank loses by itself: call findings with run={_rank(typed, run)!r}."


def _rank(typed: str, run: RankedRun) -> str:
    return f"{typed}/{run.path_of(ranks_causes.shown(run, analysis.of_run(run)))}"
