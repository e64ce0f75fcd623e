"""A history as one object."""

from __future__ import annotations

from pathlib import Path

from dlprof.bench import matrix
from dlprof.bench.matrix import Cell
from dlprof.bench.results import CellResult
from dlprof.history import report
from dlprof.history.report import History
from dlprof.history.running import Measured
from tests.unit import runs
from tests.unit.history.repositories import committed
from tests.unit.runs import S

MATRIX = 'repeat = 3\n[[work]]\nscript = "train.py"\n'


def history(folder: Path, seconds: dict[int, float]) -> History:
    """Eight commits, of which some were run: their fit took so many seconds, give or take 20 ms."""
    made = committed(folder / "r", *"12345678")
    (made.root / "m.toml").write_text(MATRIX)
    what = Measured(made, matrix.load(made.root / "m.toml", backend="python"), folder / "out", "python")
    what.begin()
    found = History(what, made.commits("HEAD~7.."), 0.05)
    for number, fit_s in seconds.items():
        results = what.results_of(found.commits[number])
        results.begin(what.matrix)
        for cell in what.matrix.cells():
            results.write(cell, _ran(results.run(cell), cell, fit_s + 0.02 * cell.number))
    return found


def _ran(place: Path, cell: Cell, fit_s: float) -> CellResult:
    wall_s = 4 + fit_s
    told = runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": round(wall_s * S)})
    rows = runs.phases(startup=2, fit_steps=1, fit_callbacks=fit_s - 1, teardown=2)
    rows[0]["phase"] = "import"
    runs.trained(place, told, phases=rows)
    measures = {"wall_s": wall_s, "fit_s": fit_s, "loss": 0.5}
    return CellResult(work=cell.work.name, backend=cell.backend, number=cell.number, measures=measures)


def test_a_change_names_the_commit_and_the_part_of_the_run(tmp_path: Path) -> None:
    """With both levels of each measure, and the interval of the part."""
    found = history(tmp_path, {n: 4.0 if n < 5 else 6.0 for n in range(8)}).report()

    (change,) = found.changes
    assert (change.subject, change.between, change.work, change.backend) == ("change 6", 0, "train", "python")
    assert change.before == found.commits[4].commit
    assert [(one.measure, round(one.before, 2), round(one.after, 2)) for one in change.measures] == [
        ("wall_s", 8.04, 10.04),
        ("fit_s", 4.04, 6.04),
    ]
    assert change.parts[0].path == "fit/callbacks"
    assert (change.parts[0].before_ns, change.parts[0].delta_ns) == (3_040_000_000, 2 * S)
    assert change.parts[0].ci_ns is not None
    assert change.why_no_parts is None


def test_series_have_every_measure_that_a_commit_has(tmp_path: Path) -> None:
    """Also those in which no change is looked for."""
    found = history(tmp_path, {0: 4.0, 7: 4.0}).report()

    assert {one.measure: len(one.points) for one in found.series} == {"wall_s": 2, "fit_s": 2, "loss": 2}
    assert [one.measured for one in found.commits] == [True, *[False] * 6, True]
    assert found.changes == ()


def wanted(found: History) -> list[tuple[str, range]]:
    """What is to be run next: numbers of commits, and of their runs."""
    return [(one.commit.subject[-1], one.numbers) for one in found.next()]


def test_between_commits_that_differ_the_middle_one_is_next(tmp_path: Path) -> None:
    """Beside new runs of those around it, because the machine may have changed; until they are neighbours."""
    for name in "abc":
        (tmp_path / name).mkdir()

    new, again = range(1, 4), range(4, 7)
    assert wanted(history(tmp_path / "a", {0: 4.0, 7: 6.0})) == [("5", new), ("1", again), ("8", again)]
    assert wanted(history(tmp_path / "b", {0: 4.0, 4: 4.0, 7: 6.0})) == [("7", new), ("5", again), ("8", again)]
    assert wanted(history(tmp_path / "c", {0: 4.0, 4: 4.0, 5: 6.0, 7: 6.0})) == []


def test_a_commit_that_was_begun_is_ended_before_anything_is_made_of_it(tmp_path: Path) -> None:
    """A part of its runs may be a chance."""
    found = history(tmp_path, {0: 4.0, 4: 6.0, 7: 6.0})
    folder = found.what.results_of(found.commits[4])
    folder.result(found.what.matrix.cells()[0]).unlink()

    assert [number for number, _ in wanted(found)] == ["5", "1", "8"]


def test_a_commit_that_fails_is_not_tried_for_ever(tmp_path: Path) -> None:
    """It is told how many might be to blame."""
    found = history(tmp_path, {0: 4.0, 1: 4.0, 3: 6.0, 7: 6.0})
    results = found.what.results_of(found.commits[2])
    results.begin(found.what.matrix)
    for cell in found.what.matrix.cells():
        results.write(
            cell, CellResult(work=cell.work.name, backend=cell.backend, number=cell.number, error="exit code 1: no")
        )

    assert found.next() == []
    told = found.report()
    assert told.commits[2].failed == ("exit code 1: no",)
    assert [(one.subject, one.between) for one in told.changes] == [("change 4", 1)]


def test_commits_are_picked_at_even_distances(tmp_path: Path) -> None:
    """The ends among them."""
    commits = history(tmp_path, {}).commits

    assert [one.subject[-1] for one in report.picked(commits, 3)] == ["1", "5", "8"]
    assert report.picked(commits, 99) == list(commits)
