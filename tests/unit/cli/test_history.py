"""`dlprof history`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dlprof.bench import running
from dlprof.bench.matrix import Cell, Matrix
from dlprof.bench.results import CellResult, Folder
from dlprof.bench.running import Place
from dlprof.history.repository import Repository
from tests.unit.history.repositories import committed
from tests.unit.published import problems
from tests.unit.runs import dlprof, trained

MATRIX = 'repeat = 3\n[[work]]\nscript = "train.py"\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Nine commits whose script holds how long it takes; the sixth is slower. Nothing is run."""

    def stand_in(cell: Cell, _matrix: Matrix, folder: Folder, _place: Place) -> CellResult:
        trained(folder.run(cell))
        wall_s = float(cell.work.script.read_text()) + cell.number / 100
        return CellResult(work=cell.work.name, backend=cell.backend, number=cell.number, measures={"wall_s": wall_s})

    monkeypatch.setattr(running, "run_cell", stand_in)
    monkeypatch.chdir(tmp_path)
    made = committed(tmp_path / "r", *("2" if n < 6 else "3" for n in range(1, 10)))
    (made.root / "bench.toml").write_text(MATRIX)
    return made


def history(*flags: object) -> int:
    """The command on all commits, with the interpreter of the tests."""
    words = ("r", "--bench", "r/bench.toml", "--commits", "HEAD~8..", "--python", sys.executable)
    return dlprof("history", *words, *flags)


@pytest.mark.slow
def test_the_slower_commit_is_named(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """With the level before and after it."""
    assert history() == 0

    said = capsys.readouterr()
    assert "made train on python slower: change 6\n  wall_s               2.02 to     3.02  +49.5 %\n" in said.out
    assert "9 commits, 9 to begin with, 3 runs of each work" in said.err


@pytest.mark.slow
def test_few_commits_are_measured_where_bisecting_finds_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two, then three in between, in place of nine."""
    assert history("--at-most", 2, "--format", "json") == 0

    content = json.loads(capsys.readouterr().out)
    assert problems("history", content) == []
    assert [one["subject"][-1] for one in content["commits"] if one["measured"]] == ["1", "5", "6", "7", "9"]
    assert [(one["subject"], one["between"]) for one in content["changes"]] == [("change 6", 0)]


@pytest.mark.slow
def test_the_table_runs_nothing(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It tells what there is."""
    assert history("--at-most", 2) == 0
    before = capsys.readouterr().out
    monkeypatch.setattr(running, "run_cell", lambda *_given: pytest.fail("it ran"))

    assert history("--table") == 0
    assert capsys.readouterr().out == before


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--at-most", 1), "--at-most must be 2 or more, not 1."),
        (("--repeat", 0), "--repeat must lie between 1 and 1000, not 0."),
        (("--least", "much"), "--least must be a share such as 5% or 0.05, not much."),
        (("--commits", "HEAD"), "--commits must be A..B, not HEAD."),
    ],
)
def test_what_makes_no_sense_is_refused(
    repository: Repository, flags: tuple[object, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence."""
    assert history(*flags) == 64
    assert why in capsys.readouterr().err


def test_a_matrix_outside_of_the_checkout_is_told_to_be_moved(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its scripts, which count from it, are not found there."""
    (tmp_path / "outside.toml").write_text(MATRIX)

    assert history("--bench", "outside.toml") == 66

    said = capsys.readouterr().err
    assert "outside.toml: there is no script train.py." in said
    assert f"move outside.toml into {repository.root}, where it need not be committed" in said


def test_help_says_what_it_needs_and_what_its_exit_code_is(capsys: pytest.CaptureFixture[str]) -> None:
    """And where the matrix lies."""
    with pytest.raises(SystemExit):
        dlprof("history", "--help")

    said = capsys.readouterr().out
    assert "pip install 'dlprof[history]'" in said
    assert "exit code is 0, whether a commit made something slower\nor not" in said
    assert "the\nmatrix, which therefore lies in the checkout" in said


def test_a_commit_that_fails_is_told_by_the_exit_code(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are told all the same."""

    def broken(cell: Cell, _matrix: Matrix, _folder: Folder, _place: Place) -> CellResult:
        return CellResult(work=cell.work.name, backend=cell.backend, number=cell.number, error="exit code 1: no")

    monkeypatch.setattr(running, "run_cell", broken)

    assert history("--at-most", 2) == 1
    assert capsys.readouterr().out.count("failed: exit code 1: no") == 2


@pytest.mark.slow
def test_a_page_is_written_of_what_there_is(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the answer; nothing is run for it."""
    assert history("--at-most", 2) == 0
    capsys.readouterr()

    assert history("--table", "--html", "trends.html") == 0

    assert "the page is trends.html" in capsys.readouterr().err
    assert "<h1>History of bench</h1>" in (tmp_path / "trends.html").read_text()
