"""Runs and comparisons as objects for notebooks: frames, plots, causes, and a short page of HTML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlprof.analysis import compare as comparing
from dlprof.analysis import line_pairs
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.analysis.turned import turned
from dlprof.errors import UsageError
from dlprof.notebook import columns, files, frames, given, html
from dlprof.notebook.comparison_frames import ComparisonFrames
from dlprof.notebook.plots import ComparisonPlots, RunPlots
from dlprof.notebook.python_words import in_python
from dlprof.notebook.run_frames import RunFrames
from dlprof.notebook.time_units import Unit, checked, in_unit
from dlprof.pipeline import opening, ranked
from dlprof.report import summary
from dlprof.report.html import comparison_page, run_page
from dlprof.report.model import Report
from dlprof.schema.manifest_json import as_builtins
from dlprof.trials import confirm

if TYPE_CHECKING:
    import pandas as pd


def open_run(run: str | PathLike[str] = "last", *, unit: Unit = "ns") -> RunView:
    """Open a run.

    Args:
        run: Its path, its name below `dlprof_runs/`, `last`, or `last~1`, the one before.
        unit: Of the times in its frames: `ns` (as they are stored), `us`, `ms` or `s`.

    Raises:
        NoInputError: There is no such run.
        BadDataError: It is damaged or of a newer dlprof.
        UsageError: There is no such unit; or it is a folder of ranks, which `dlprof.open_ranks` opens.
    """
    typed = given.path(run, "A run")
    with in_python():
        try:
            return RunView(opening.open_run(typed), checked(unit))
        except ranked.RanksError as error:
            raise UsageError(
                f"{typed} holds the ranks of one training: this opens one run.", hint=_ranks(typed)
            ) from error


def _ranks(typed: str) -> str:
    """What opens the ranks of a folder, and what one of them."""
    found = ranked.find(typed)
    members = found.members if found is not None else ()
    one = [f"or one of them: dlprof.open({f'{typed}/{found.path_of(members[0])}'!r})"] if found and members else []
    return ", ".join([f"dlprof.open_ranks({typed!r})", *one])


@in_python()
def compare(
    a: RunView | str | PathLike[str],
    b: RunView | str | PathLike[str],
    *,
    labels: tuple[str, str] | None = None,
    unit: Unit | None = None,
) -> ComparisonView:
    """Compare two runs, A minus B.

    Args:
        a: An opened run, or what `dlprof compare` takes: a folder of repeats, or several with commas between, too.
        b: The other one.
        labels: What to call them; None: by their backends where these differ, else by their names.
        unit: Of the times in its frames; None: that of `a` where it is an opened run, else `ns`.

    Raises:
        NoInputError: There is no such run.
        UsageError: A run has no wall time, there is no such unit, or the labels are not two.
    """
    unit = unit or (a.unit if isinstance(a, RunView) else "ns")
    named = None if labels is None else given.labels(labels)
    names = [str(side.path) if isinstance(side, RunView) else given.path(side, "A side") for side in (a, b)]
    sides = opening.open_sides(names)
    if named is not None:
        sides = [replace(side, label=label) for side, label in zip(sides, named, strict=True)]
    return ComparisonView(comparing.compare(*sides), unit)


def view(
    run: RunView | str | PathLike[str] = "last",
    other: RunView | str | PathLike[str] | None = None,
    *,
    path: str | PathLike[str] | None = None,
    open_browser: bool = True,
) -> Path:
    """Write the page of a run, or of a comparison with another one, and open it; see `RunView.view`.

    Raises:
        NoInputError: There is no such run.
        UsageError: Another file has that name.
    """
    if other is not None:
        return compare(run, other).view(path, open_browser=open_browser)
    shown = run if isinstance(run, RunView) else open_run(run)
    return shown.view(path, open_browser=open_browser)


def finding_rows(diagnosis: Diagnosis) -> pd.DataFrame:
    """Causes as a frame, by their rank from 1; times in ns."""
    rows = [
        {**vars(finding), "title": finding.heading, "remedy": finding.remedy.title if finding.remedy else None}
        for finding in diagnosis.findings
    ]
    frame = frames.of_rows(rows, columns.FINDINGS)
    frame.index += 1
    frame.index.name = "rank"
    return frame


class _Diagnosed(ABC):
    """What a run and a comparison have in common: causes, and a page that begins with them."""

    unit: Unit

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Causes of the run's time, or why A is slower than B, with their evidence; none where A is not slower.

        Raises:
            UsageError: A run has no phases, so that nothing can be said.
        """
        with in_python():
            return self._diagnose()

    def diagnose(self) -> Diagnosis:
        """The causes as typed objects, each with the time at stake (ns), its line, evidence and remedy.

        Raises:
            UsageError: A run has no phases, so that nothing can be said.
        """
        return self.diagnosis

    def findings(self, *, unit: Unit | None = None) -> pd.DataFrame:
        """The causes as `dlprof diagnose` has them, by their rank from 1, the one with most time first.

        Args:
            unit: Of times; None: that of the run or the comparison.

        Raises:
            UsageError: A run has no phases, so that nothing can be said; or there is no such unit.
            UnavailableError: pandas is not installed.
        """
        return in_unit(finding_rows(self.diagnosis), unit or self.unit)

    @in_python()
    def view(self, path: str | PathLike[str] | None = None, *, open_browser: bool = True) -> Path:
        """Write the page with charts and timeline, as `dlprof view` does, and open it in the browser.

        Args:
            path: The file; None: `report.html` in the run's folder, of a comparison `comparison.html` here.
            open_browser: False: only write it.

        Returns:
            The path.

        Raises:
            UsageError: Another file has that name, or it is a folder.
            CannotCreateError: There is no such folder, or it cannot be written.
        """
        try:
            page = self._whole_page(self.diagnosis, "")
        except UsageError as error:
            page = self._whole_page(None, error.message)
        target = self._default_page() if path is None else Path(given.path(path, "path"))
        return files.write_page(page, target, open_browser=open_browser)

    def _repr_html_(self) -> str:
        return self._page(self._known())

    def _known(self) -> Diagnosis | None:
        """The diagnosis; None: nothing can be said of causes."""
        try:
            return self.diagnosis
        except UsageError:
            return None

    @abstractmethod
    def _diagnose(self) -> Diagnosis: ...

    @abstractmethod
    def _default_page(self) -> Path:
        """Where the page with charts goes if nothing else is said."""

    @abstractmethod
    def _whole_page(self, diagnosis: Diagnosis | None, why_not: str) -> str:
        """The page with charts; None: nothing can be said of causes, and why not."""

    @abstractmethod
    def _page(self, diagnosis: Diagnosis | None) -> str:
        """HTML; None: nothing can be said of causes."""


class RunView(RunFrames, _Diagnosed):
    """A run in a notebook: its figures as frames, its plots (`plot`), and its report when it is shown."""

    def __repr__(self) -> str:
        return f"<dlprof run {self.name}>"

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.run.folder.path

    @property
    def backend(self) -> str | None:
        """The backend that Keras ran on; None: not known."""
        return self.run.backend

    @property
    def manifest(self) -> dict[str, Any]:
        """What was run, where and how (`dlprof help run-folder`)."""
        return as_builtins(self.run.manifest)

    @property
    def wall_ns(self) -> int | None:
        """Wall time (ns); None when it is not known."""
        return self.run.wall_ns

    @property
    def wall_s(self) -> float | None:
        """Wall time in seconds; None when it is not known."""
        return None if self.wall_ns is None else self.wall_ns / 1e9

    @property
    def exit_code(self) -> int | None:
        """What the program ended with; None: a signal ended it, or it is not known."""
        return self.run.manifest.process.exit_code

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All that the report says, as `dlprof report --json` (`dlprof help json`)."""
        return summary.as_builtins(self.report)

    @cached_property
    def report(self) -> Report:
        """The report as typed objects."""
        return summary.summarise(self.run, diagnosis=self._known())

    @property
    def plot(self) -> RunPlots:
        """Plots of the run; each returns the Axes."""
        return RunPlots(self)

    @in_python()
    def export(self, to: str, path: str | PathLike[str] | None = None, *, force: bool = False) -> Path:
        """Write the run for another viewer, as `dlprof export` does.

        Args:
            to: perfetto, chrome, tensorboard, speedscope, pprof, line_profiler, csv, parquet or json.
            path: The file or folder; None: the run's name, here.
            force: Replace a file, write into a folder that is not empty.

        Returns:
            The path.

        Raises:
            UsageError: There is no such format.
            CannotCreateError: There is something already, or it cannot be written.
        """
        return files.export(self.run, to, path, force=force)

    def compare(self, other: RunView | str | PathLike[str], *, labels: tuple[str, str] | None = None) -> ComparisonView:
        """This run (A) minus another one (B); see `dlprof.compare`."""
        return compare(self, other, labels=labels)

    def _default_page(self) -> Path:
        return self.path / "report.html"

    def _whole_page(self, diagnosis: Diagnosis | None, why_not: str) -> str:
        return run_page.make(self.run, diagnosis, why_not)

    def _diagnose(self) -> Diagnosis:
        return confirm.with_trials(self.run, diagnose.diagnose(self.run))

    def _page(self, diagnosis: Diagnosis | None) -> str:
        return html.of_run(self.report, diagnosis)


class ComparisonView(ComparisonFrames, _Diagnosed):
    """Two runs beside each other: frames, plots (`plot`), and the answer when it is shown."""

    def __repr__(self) -> str:
        return f"<dlprof comparison of {self.comparison.a.label} and {self.comparison.b.label}>"

    @property
    def gap_ns(self) -> int:
        """Wall time of A minus that of B (ns); items and what is in no phase sum to it."""
        return self.comparison.gap_ns

    @property
    def gap_s(self) -> float:
        """The same in seconds."""
        return self.gap_ns / 1e9

    @property
    def comparable(self) -> bool:
        """Whether both did the same work, as far as that can be seen."""
        return self.comparison.parity.comparable

    @property
    def why_not(self) -> tuple[str, ...]:
        """Why they are not comparable; empty where they are."""
        return tuple(self.comparison.parity.why_not)

    @property
    def plot(self) -> ComparisonPlots:
        """Plots of the comparison; each returns the Axes."""
        return ComparisonPlots(self.comparison)

    def _default_page(self) -> Path:
        return Path("comparison.html")

    def _whole_page(self, diagnosis: Diagnosis | None, why_not: str) -> str:
        lines = line_pairs.join(self.comparison.a.runs, self.comparison.b.runs)
        of_b = diagnose.diagnose_gap(turned(self.comparison)) if diagnosis is not None else None
        return comparison_page.make(self.comparison, lines, diagnosis, why_not, of_b)

    def _diagnose(self) -> Diagnosis:
        return diagnose.diagnose_gap(self.comparison)

    def _page(self, diagnosis: Diagnosis | None) -> str:
        return html.of_comparison(self.comparison, diagnosis)
