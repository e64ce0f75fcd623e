"""`dlprof runs`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.runs import dlprof, trained


def test_runs_are_listed_with_how_they_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged one is listed, too."""
    trained(tmp_path / "good")
    trained(tmp_path / "bad").folder.manifest_path.write_text("{")

    assert dlprof("runs", tmp_path) == 0

    good, bad = sorted(capsys.readouterr().out.splitlines(), reverse=True)
    assert good.split()[:5] == ["good", "torch", "train.py", "exit", "0"]
    assert bad.split()[:2] == ["bad", "damaged:"]


def test_json_names_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And has an object for each run."""
    trained(tmp_path / "r")

    assert dlprof("runs", tmp_path, "--json") == 0

    content = json.loads(capsys.readouterr().out)
    assert (content["schema"], [row["run"] for row in content["runs"]]) == ("dlprof.runs/1", ["r"])


def test_a_folder_without_runs_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where there is no folder yet."""
    monkeypatch.chdir(tmp_path)

    assert dlprof("runs") == 0
    assert capsys.readouterr().out == "no runs in dlprof_runs; make one: dlprof trace SCRIPT\n"


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """When it was asked for."""
    assert dlprof("runs", tmp_path / "none") == 66


def test_runs_in_another_folder_are_pointed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where none are in the one that is looked at."""
    monkeypatch.chdir(tmp_path)
    trained(tmp_path / "my runs" / "one")

    assert (dlprof("runs"), dlprof("runs", ".")) == (0, 0)

    assert capsys.readouterr().out.splitlines() == [
        "no runs in dlprof_runs; my runs/ holds 1: dlprof runs 'my runs'",
        "no runs in .; my runs/ holds 1: dlprof runs 'my runs'",
    ]
