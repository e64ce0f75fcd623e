"""All runs of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.report import run_index
from tests.unit.runs import MS, S, make, manifest, steps, trained


def test_a_run_has_its_step_and_the_phase_that_took_most(tmp_path: Path) -> None:
    """250 steps of 20 ms; 5 of 10 s in the steps of fit."""
    trained(tmp_path / "r")

    (run,) = run_index.of_folder(tmp_path).runs

    figures = run.figures
    assert (figures.step_ns, figures.how, figures.samples_per_s) == (20 * MS, "median", 6400.0)
    assert (figures.most_phase, figures.most_share, figures.unknown) == ("fit.steps", 0.5, "")


def test_the_newest_run_comes_first_and_repeats_are_among_them(tmp_path: Path) -> None:
    """Runs one level below are named with their folder."""
    make(tmp_path / "old")
    make(tmp_path / "five-repeats" / "run-1")

    assert [run.listed.run for run in run_index.of_folder(tmp_path).runs] == ["five-repeats/run-1", "old"]


def test_a_damaged_manifest_is_named_and_costs_no_other_run(tmp_path: Path) -> None:
    """With the reason."""
    make(tmp_path / "good")
    make(tmp_path / "bad").folder.manifest_path.write_text("{")

    found = run_index.of_folder(tmp_path)

    assert [run.listed.run for run in found.runs] == ["good"]
    assert [one.run for one in found.damaged] == ["bad"]
    assert "cannot be read" in found.damaged[0].damaged


def test_damaged_tables_cost_only_their_run_its_figures(tmp_path: Path) -> None:
    """The manifest is still told."""
    (trained(tmp_path / "r").folder.tables / "steps.parquet").write_bytes(b"PAR1")

    (run,) = run_index.of_folder(tmp_path).runs

    assert run.listed.wall_ns == 10 * S
    assert run.figures.step_ns is None
    assert run.figures.unknown == "its tables are damaged: dlprof report r"


def test_tables_that_are_not_read_for_want_of_time_are_said_to_be_so(tmp_path: Path) -> None:
    """Nothing is made up for them."""
    trained(tmp_path / "r")

    (run,) = run_index.of_folder(tmp_path, within_s=0).runs

    assert run.figures == run_index.Figures(unknown="not read here, because there are many runs")


def test_a_large_run_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the command that does."""
    monkeypatch.setattr(run_index, "_ROWS_AT_MOST", 100)
    trained(tmp_path / "r", steps=steps(101))

    (run,) = run_index.of_folder(tmp_path).runs

    assert run.figures.unknown == "not read here, because it is large: dlprof report r"


def test_old_tables_are_not_made_anew(tmp_path: Path) -> None:
    """A look at a folder writes nothing."""
    trained(tmp_path / "r", manifest(tables_version=1))

    (run,) = run_index.of_folder(tmp_path).runs

    assert run.figures.unknown == "its tables are to be made first: dlprof report r"


@pytest.mark.parametrize(
    ("changes", "is_finished"),
    [
        ({}, True),
        ({"state": "imported", "process": {"wall_ns": S}}, True),
        ({"process": {"exit_code": 1, "wall_ns": S}}, False),
        ({"process": {"signal": 9, "wall_ns": S}}, False),
        ({"state": "interrupted"}, False),
    ],
)
def test_trends_are_of_runs_that_ended_well(tmp_path: Path, changes: dict[str, object], *, is_finished: bool) -> None:
    """Or are imported."""
    make(tmp_path / "r", manifest(**changes))
    assert bool(run_index.finished(run_index.of_folder(tmp_path).runs)) is is_finished
