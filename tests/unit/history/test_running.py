"""A matrix at every commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.bench import matrix, running
from dlprof.bench.matrix import Cell, Matrix
from dlprof.bench.results import CellResult, Folder
from dlprof.bench.running import Place
from dlprof.errors import UsageError
from dlprof.history import running as history_running
from dlprof.history.repository import Commit
from dlprof.history.running import Measured, Wanted
from tests.unit.history.repositories import committed, git

MATRIX = 'repeat = 2\n[[work]]\nscript = "train.py"\n'


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """(text of the script, number of the repeat) of each run; a script `end` is interrupted."""
    calls: list[tuple[str, int]] = []

    def stand_in(cell: Cell, _matrix: Matrix, folder: Folder, place: Place) -> CellResult:
        assert place.folder is not None
        assert cell.work.script == place.folder / "train.py"
        text = cell.work.script.read_text()
        calls.append((text, cell.number))
        if text == "end" and len(calls) < 5:
            raise KeyboardInterrupt
        return CellResult(work=cell.work.name, backend=cell.backend, number=cell.number, measures={"wall_s": 1.0})

    monkeypatch.setattr(running, "run_cell", stand_in)
    return calls


def measured(folder: Path, *texts: str) -> tuple[Measured, list[Commit]]:
    """A repository with these scripts, to be measured."""
    made = committed(folder / "r", *texts)
    (made.root / "m.toml").write_text(MATRIX)
    found = matrix.load(made.root / "m.toml", backend="python")
    return Measured(made, found, folder / "out", "python"), made.commits(f"HEAD~{len(texts) - 1}..")


def quiet(_line: str) -> None:
    """Says nothing."""


def twice(*commits: Commit) -> list[Wanted]:
    """Two runs of each."""
    return [Wanted(commit, range(1, 3)) for commit in commits]


def test_every_commit_is_run_as_it_has_the_script(tmp_path: Path, ran: list[tuple[str, int]]) -> None:
    """All once, then all once more; nothing is left of the checkouts."""
    what, commits = measured(tmp_path, "a", "b", "c")

    history_running.run(what, twice(*commits), quiet, list)

    assert [sorted(text for text, number in ran if number == wanted) for wanted in (1, 2)] == [["a", "b", "c"]] * 2
    assert [number for _, number in ran] == [1, 1, 1, 2, 2, 2]
    assert [len(what.results(commit)) for commit in commits] == [2, 2, 2]
    assert not (tmp_path / "out" / "checkouts").exists()
    assert len(git(what.repository.root, "worktree", "list").splitlines()) == 1


def test_after_an_interruption_it_goes_on(tmp_path: Path, ran: list[tuple[str, int]]) -> None:
    """What is over is not run again; no checkout is left behind meanwhile."""
    what, commits = measured(tmp_path, "a", "b", "end")
    with pytest.raises(KeyboardInterrupt):
        history_running.run(what, twice(*commits), quiet, list)
    done = sum(len(what.results(commit)) for commit in commits)
    assert done == len(ran) - 1 < 6
    assert len(git(what.repository.root, "worktree", "list").splitlines()) == 1

    while sum(len(what.results(commit)) for commit in commits) < 6:
        try:
            history_running.run(what, twice(*commits), quiet, list)
        except KeyboardInterrupt:
            continue

    assert len([one for one in ran if one[0] != "end"]) == 4


def test_commits_that_are_asked_for_meanwhile_are_run_too(tmp_path: Path, ran: list[tuple[str, int]]) -> None:
    """Until no more are."""
    what, commits = measured(tmp_path, "a", "b", "c")
    asked = [[*twice(commits[1]), Wanted(commits[0], range(3, 4))], []]

    history_running.run(what, twice(commits[0]), quiet, lambda: asked.pop(0))

    assert ran[:2] == [("a", 1), ("a", 2)]
    assert sorted(ran[2:4]) == [("a", 3), ("b", 1)]
    assert ran[4:] == [("b", 2)]
    assert [what.runs_of(commit) for commit in commits] == [3, 2, 0]
    assert [what.is_measured(commit) for commit in commits] == [True, True, False]


def test_that_it_bisects_now_is_said(tmp_path: Path, ran: list[tuple[str, int]]) -> None:
    """And what it runs for it: the count begins anew."""
    what, commits = measured(tmp_path, "a", "b")
    asked = [[Wanted(commits[1], range(1, 2))], []]
    said: list[str] = []

    history_running.run(what, [Wanted(commits[0], range(1, 2))], said.append, lambda: asked.pop(0))

    assert len(ran) == 2
    assert said == [
        f"1/1 {commits[0].short} train, run 1",
        f"bisecting: a measure changed between commits that are no neighbours; runs of {commits[1].short} follow",
        f"bisecting, 1/1 {commits[1].short} train, run 1",
    ]


def test_a_commit_without_the_script_is_noted_and_passed_over(tmp_path: Path, ran: list[tuple[str, int]]) -> None:
    """With the reason."""
    made = committed(tmp_path / "r", "", file="other.txt")
    (made.root / "train.py").write_text("a")
    (made.root / "m.toml").write_text(MATRIX)
    what = Measured(made, matrix.load(made.root / "m.toml", backend="python"), tmp_path / "out", "python")

    history_running.run(what, twice(*made.commits("HEAD..")), quiet, list)

    assert ran == []
    assert {one.error for one in what.results(made.commits("HEAD..")[0])} == {"there is no train.py in this commit"}


def test_a_script_outside_of_the_repository_is_refused(tmp_path: Path) -> None:
    """No commit has it."""
    made = committed(tmp_path / "r", "a")
    (tmp_path / "train.py").touch()
    (tmp_path / "m.toml").write_text(MATRIX)

    with pytest.raises(UsageError, match="train.py does not lie in"):
        Measured(made, matrix.load(tmp_path / "m.toml", backend="python"), tmp_path / "out")


def test_results_of_another_matrix_are_not_touched(tmp_path: Path, ran: list[tuple[str, int]]) -> None:
    """Nor a folder of something else."""
    what, commits = measured(tmp_path, "a")
    history_running.run(what, twice(*commits), quiet, list)
    (what.repository.root / "m.toml").write_text(MATRIX + 'arguments = ["--more"]\n')
    other = Measured(what.repository, matrix.load(what.repository.root / "m.toml", backend="python"), what.folder)

    with pytest.raises(UsageError, match="holds results of another repository or matrix"):
        other.begin()
    with pytest.raises(UsageError, match="is not the folder of a history, and not empty"):
        Measured(what.repository, what.matrix, what.repository.root).begin()
