"""The ranks of one training in Python: their report, what they lose to each other, their tables, and each by itself."""

from __future__ import annotations

import io
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlprof.analysis import ranks as analysis
from dlprof.analysis.findings import of_ranks
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.errors import NoInputError, UsageError
from dlprof.notebook import columns, frames, given
from dlprof.notebook.python_words import in_python
from dlprof.notebook.time_units import Unit, checked, in_unit
from dlprof.notebook.views import RunView, finding_rows
from dlprof.pipeline import ranked
from dlprof.report import ranks_causes, ranks_json, ranks_text
from dlprof.report.json_text import plain
from dlprof.store import ranked_query
from dlprof.store.ranked import RankedRun

if TYPE_CHECKING:
    import pandas as pd


@in_python()
def open_ranks(run: str | PathLike[str] = "last", *, unit: Unit = "ns") -> RanksView:
    """Open the ranks of one training together (`dlprof help ranks`).

    Args:
        run: The folder that holds them, or the run of the program that started them, named as `dlprof.open` takes it.
        unit: Of the times in their frames: `ns`, `us`, `ms` or `s`.

    Raises:
        NoInputError: There is no such run.
        UsageError: It holds no ranks, or there is no such unit.
    """
    typed = given.path(run, "A run")
    found = ranked.find(typed)
    if found is None or not found.members:
        raise UsageError(f"{typed} holds no ranks.", hint=f"dlprof.open({typed!r})")
    return RanksView(found, unit)


class RanksView:
    """The ranks of one training.

    Args:
        ranked: Their runs.
        unit: Unit of times where a method is given none.
    """

    def __init__(self, ranked: RankedRun, unit: Unit = "ns") -> None:
        self.ranked = ranked
        """The ranks themselves, as dlprof's analyses take them."""
        self.unit: Unit = checked(unit)
        """Unit of times where a method is given none."""

    def __repr__(self) -> str:
        return f"<dlprof run {self.name} of {len(self.ranked.members)} ranks>"

    def __str__(self) -> str:
        """What `dlprof report` prints."""
        causes = ranks_causes.of_run(self.ranked, self._summary)
        text = io.StringIO()
        ranks_text.print_ranks(self.ranked, self._summary, causes, file=text, full=False, plain=True)
        return text.getvalue()

    @property
    def name(self) -> str:
        """The name of their folder."""
        return self.ranked.name

    @property
    def path(self) -> Path:
        """Their folder."""
        return self.ranked.folder.path

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All that the report says, as `dlprof report --json` (`dlprof.ranks/1`)."""
        made: dict[str, Any] = plain(ranks_json.as_json(self.ranked, self._summary))
        return made

    def ranks(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """One row per rank, by its number; times are of a plain train step.

        Raises:
            UnavailableError: pandas is not installed.
            UsageError: There is no such unit.
        """
        return in_unit(frames.of_rows(self.summary["ranks"], columns.RANKS).set_index("rank"), unit or self.unit)

    def rank(self, number: int) -> RunView:
        """A rank by itself, as `dlprof.open` gives it.

        Raises:
            NoInputError: There is no run of it.
        """
        for member in self.ranked.members:
            if member.rank == number:
                return RunView(member.run, self.unit)
        known = ", ".join(str(member.rank) for member in self.ranked.members)
        raise NoInputError(f"{self.name} has no run of rank {number}.", hint=f"there are: {known}")

    def diagnose(self) -> Diagnosis:
        """What the ranks lose to each other; what each loses by itself `rank(number).diagnose()` tells."""
        return of_ranks.look(self.ranked, self._summary)

    def findings(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """The same as a frame; see `RunView.findings`."""
        return in_unit(finding_rows(self.diagnose()), unit or self.unit)

    @in_python()
    def sql(self, text: str) -> pd.DataFrame:
        """The answer to a query over the tables of all ranks, each of which has columns `rank` and `host`.

        Raises:
            UsageError: DuckDB refuses the query, it is not one, or it asks for nothing.
            UnavailableError: pandas is not installed.
        """
        return frames.of_table(ranked_query.arrow(self.ranked, given.text(text, "A query")))

    @cached_property
    def _summary(self) -> analysis.RanksSummary:
        return analysis.of_run(self.ranked)
