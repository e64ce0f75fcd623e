"""`dlprof bench`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.bench.matrices import GOOD, Runs, written
from tests.unit.runs import dlprof


@pytest.fixture
def matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A matrix in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path, GOOD)


def test_a_table_of_what_was_run_is_printed(
    matrix: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder has the name of the matrix."""
    made = Runs(monkeypatch)

    assert dlprof("bench", matrix, "--format", "json") == 0

    content = json.loads(capsys.readouterr().out)
    assert (content["schema"], content["repeat"]) == ("dlprof.bench/1", 2)
    assert {row["runs"] for row in content["rows"]} == {2}
    assert len(made.names) == 8
    assert Path("dlprof_bench", "m", "bench.json").is_file()


def test_what_was_run_is_not_run_again(
    matrix: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But with --restart; --table runs nothing."""
    assert dlprof("bench", matrix, "--table", "--format", "csv", "-o", "results") == 0
    made = Runs(monkeypatch)
    for flags in ([], [], ["--restart"], ["--table"]):
        assert dlprof("bench", matrix, "-o", "results", *flags) == 0

    assert len(made.names) == 16
    assert "| " in capsys.readouterr().out


def test_a_run_that_fails_is_told_by_the_exit_code(matrix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are run all the same."""
    made = Runs(monkeypatch)
    assert dlprof("bench", matrix) == 0
    made.error = {made.names[0]: "no"}

    assert dlprof("bench", matrix, "--restart") == 1
    assert len(made.names) == 16


@pytest.mark.parametrize("repeat", ["0", "100000"])
def test_repeats_have_their_limits(matrix: Path, repeat: str) -> None:
    """Exit code 64."""
    assert dlprof("bench", matrix, "--repeat", repeat) == 64


def test_repeats_of_the_command_line_come_before_those_of_the_matrix(
    matrix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run of each pair."""
    made = Runs(monkeypatch)

    assert dlprof("bench", matrix, "--repeat", "1") == 0
    assert len(made.names) == 4
