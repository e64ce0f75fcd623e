"""Runs and comparisons as notebooks open them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dlprof
from dlprof.errors import NoInputError, UsageError
from dlprof.notebook.views import ComparisonView, RunView
from tests.unit import runs
from tests.unit.runs import MS, S


def test_importing_dlprof_loads_nothing_that_only_notebooks_use() -> None:
    """`dlprof --help` stays as fast as it was."""
    code = "import sys, dlprof; print([m for m in ('pandas', 'IPython', 'matplotlib', 'pyarrow', 'duckdb') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_star_import_leaves_pythons_own_open_alone() -> None:
    """Though completion offers `dlprof.open`."""
    assert "open" not in dlprof.__all__
    assert {"open", "compare"} <= set(dir(dlprof))


def test_the_package_shows_what_there_is_to_use_and_nothing_else() -> None:
    """No names that only its own code needs."""
    shown = {name for name in dir(dlprof) if not name.startswith("__")}

    assert shown == {
        *("ComparisonView", "DlprofError", "RanksView", "RunView"),
        *("compare", "in_ms", "in_unit", "load_ipython_extension", "open", "open_ranks", "runs", "trace", "view"),
    }
    assert shown - {"open"} == {name for name in dlprof.__all__ if not name.startswith("__")}


def test_all_that_the_package_shows_can_be_had() -> None:
    """And says what it does."""
    assert [name for name in dir(dlprof) if not name.startswith("__") and not getattr(dlprof, name).__doc__] == []


def test_a_run_is_opened_by_its_name_and_by_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the commands take it."""
    runs.trained(tmp_path / "dlprof_runs" / "one")
    monkeypatch.chdir(tmp_path)

    assert dlprof.open("one").name == dlprof.open("last").name == dlprof.open().name == "one"


def test_a_run_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    """With dlprof's own error."""
    with pytest.raises(NoInputError, match=r"There is no run .*nothing\."):
        dlprof.open(tmp_path / "nothing")


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="module 'dlprof' has no attribute 'opne'"):
        _ = dlprof.opne


def test_findings_are_ranked_from_one(tmp_path: Path) -> None:
    """As `dlprof diagnose` ranks them."""
    tables: dict[str, Any] = {
        "phases": runs.phases(startup=1, fit_steps=2, fit_input=6, teardown=1),
        "phase_intervals": runs.intervals(("startup", 0, 1), ("fit.steps", 1, 9), ("teardown", 9, 10)),
        "steps": runs.steps(100, dur_ms=20, input_ns=60 * MS),
        "spans": [runs.fit_span()],
    }
    runs.make(tmp_path / "a", **tables)
    frame = dlprof.open(tmp_path / "a").findings()

    assert frame.index.name == "rank"
    assert list(frame.index) == list(range(1, len(frame) + 1))
    assert frame.loc[1, "slug"] == "input-bound"
    assert frame.loc[1, "at_stake_ns"] > 5 * S


def test_a_run_without_phases_cannot_be_diagnosed_but_shown(tmp_path: Path) -> None:
    """The page leaves the causes out."""
    runs.make(tmp_path / "a")
    view = dlprof.open(tmp_path / "a")

    with pytest.raises(UsageError, match="cannot be diagnosed"):
        view.findings()
    assert "Where the time went is not known" in view._repr_html_()


def test_sides_of_a_comparison_can_be_called_by_other_names(tmp_path: Path) -> None:
    """Names of runs are long."""
    runs.trained(tmp_path / "a")
    found = dlprof.compare(tmp_path / "a", tmp_path / "a", labels=("before", "after"))

    assert repr(found) == "<dlprof comparison of before and after>"


def test_a_comparison_says_whether_it_is_fair(tmp_path: Path) -> None:
    """And why not."""
    runs.trained(tmp_path / "a")
    runs.trained(tmp_path / "b", spans=[runs.fit_span(batch_size=32)])
    found = dlprof.compare(tmp_path / "a", tmp_path / "b")

    assert not found.comparable
    assert "batch size" in found.why_not[0]
    assert "Not comparable, because" in found._repr_html_()


def test_a_run_says_where_it_is_and_on_what_it_ran(tmp_path: Path) -> None:
    """Plain values."""
    runs.trained(tmp_path / "a")
    view = dlprof.open(tmp_path / "a")

    assert (view.path, view.backend, view.wall_s) == (tmp_path / "a", "torch", 10.0)
    assert view.manifest["engine"] == {"name": "torch", "version": "2.13"}
    assert repr(view) == "<dlprof run a>"


def test_why_a_is_slower_is_ranked_too(pair: ComparisonView) -> None:
    """The same frame as that of a run."""
    frame = pair.findings()

    assert frame.index.name == "rank"
    assert list(frame.columns)[:4] == ["slug", "title", "claim", "at_stake_ns"]


def test_a_run_is_compared_with_another_one(tmp_path: Path) -> None:
    """It is A, as of `dlprof.compare`; its unit is that of the comparison."""
    runs.trained(tmp_path / "a")
    runs.trained(tmp_path / "b")

    gap = dlprof.open(tmp_path / "a", unit="ms").compare(tmp_path / "b", labels=("mine", "theirs"))

    assert (gap.comparison.a.label, gap.comparison.b.label, gap.gap_ns) == ("mine", "theirs", 0)
    assert {"a_ms", "b_ms", "delta_ms"} <= set(gap.items().columns)
    assert {"a_s", "b_s"} <= set(gap.items(unit="s").columns)


def test_a_diagnosis_is_typed(tmp_path: Path) -> None:
    """The same that `findings` makes a frame of."""
    runs.trained(tmp_path / "a")
    run = dlprof.open(tmp_path / "a")

    assert [finding.slug for finding in run.diagnose().findings] == list(run.findings()["slug"])


def test_times_of_a_run_have_the_unit_that_it_was_opened_with(tmp_path: Path) -> None:
    """Unless a method is given another one; tables and answers of SQL are as they are stored."""
    runs.trained(tmp_path / "a")
    run = dlprof.open(tmp_path / "a", unit="s")

    assert "dur_s" in run.phases().columns
    assert run.phases().loc["fit.steps", "dur_s"] == 5.0
    assert run.phases(unit="us").loc["fit.steps", "dur_us"] == 5e6
    assert "dur_ns" in run.table("phases").columns
    assert "dur_ns" in run.sql("SELECT * FROM phases").columns
    assert "at_stake_s" in run.findings().columns


def test_plots_do_not_depend_on_the_unit(tmp_path: Path) -> None:
    """They count in seconds and milliseconds by themselves."""
    runs.trained(tmp_path / "a")

    widths = [
        [bar.get_width() for bar in dlprof.open(tmp_path / "a", unit=unit).plot.phases().patches]
        for unit in ("ns", "ms")
    ]

    assert widths[0] == widths[1]
    assert 5.0 in widths[0]


def test_a_unit_that_there_is_not_is_refused(tmp_path: Path) -> None:
    """Before anything is read with it."""
    runs.trained(tmp_path / "a")

    with pytest.raises(UsageError, match="There is no unit msec of time"):
        dlprof.open(tmp_path / "a", unit="msec")  # type: ignore[arg-type]


def test_the_exit_code_of_a_run_is_known(tmp_path: Path) -> None:
    """As its manifest has it."""
    runs.trained(tmp_path / "a")

    assert dlprof.open(tmp_path / "a").exit_code == 0


@pytest.mark.parametrize("labels", ["ab", ("a",), ("a", 1), ("a", "b", "c"), 3])
def test_labels_are_two_texts(trained: RunView, labels: tuple[str, str]) -> None:
    """Two letters of one text are not."""
    with pytest.raises(UsageError, match="labels are two texts"):
        trained.compare(trained, labels=labels)


@pytest.mark.parametrize("run", [None, 3, b"r"])
def test_what_can_name_no_run_is_refused(trained: RunView, run: str) -> None:
    """In a sentence, wherever a run is taken."""
    for take in (dlprof.open, dlprof.view, trained.compare):
        with pytest.raises(UsageError, match="is a path or a name, not"):
            take(run)
