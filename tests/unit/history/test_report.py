"""A history as one object."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from dlprof.bench import matrix
from dlprof.bench.matrix import Cell
from dlprof.bench.results import CellResult
from dlprof.history import report
from dlprof.history.report import History
from dlprof.history.running import Measured
from tests.unit import runs
from tests.unit.history.repositories import committed, git
from tests.unit.runs import S

MATRIX = 'repeat = 3\n[[work]]\nscript = "train.py"\n'


def history(folder: Path, seconds: dict[int, float], others: dict[int, tuple[float, ...]] | None = None) -> History:
    """Eight commits, of which some were run: their fit took so many seconds, give or take 20 ms.

    Args:
        folder: For the repository and the results.
        seconds: By commit.
        others: What other programs used of the machine in each run of a commit.
    """
    made = committed(folder / "r", *"12345678")
    (made.root / "m.toml").write_text(MATRIX)
    what = Measured(made, matrix.load(made.root / "m.toml", backend="python"), folder / "out", "python")
    what.begin()
    found = History(what, made.commits("HEAD~7.."), 0.05)
    for number, fit_s in seconds.items():
        results = what.results_of(found.commits[number])
        results.begin(what.matrix)
        for cell in what.matrix.cells():
            ran = _ran(results.run(cell), cell, fit_s + 0.02 * cell.number)
            share = (others or {}).get(number, (None, None, None))[cell.number - 1]
            results.write(cell, structs.replace(ran, others_share=share))
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


def test_a_change_beyond_noise_is_certain(tmp_path: Path) -> None:
    """With the commits of its levels."""
    (change,) = history(tmp_path, {n: 4.0 if n < 5 else 6.0 for n in range(8)}).report().changes

    assert change.doubts == ()
    assert change.level_commits == (5, 3)
    assert [one.beyond_noise for one in change.measures] == [True, True]


def test_a_change_of_no_file_of_the_benchmark_is_in_doubt(tmp_path: Path) -> None:
    """Neither parts nor a cause are told of it."""
    found = history(tmp_path, {0: 4.0, 7: 4.0})
    root = found.what.repository.root
    (root / "README.md").write_text("1")
    git(root, "add", "README.md")
    git(root, "commit", "-q", "-m", "Read me")
    more = History(found.what, found.what.repository.commits("HEAD~1.."), 0.05)
    results = more.what.results_of(more.commits[1])
    results.begin(more.what.matrix)
    for cell in more.what.matrix.cells():
        results.write(cell, _ran(results.run(cell), cell, 6.0))

    (change,) = more.report().changes

    assert change.doubts == ("no file of the benchmark changed: README.md",)
    assert (change.parts, change.cause, change.why_no_parts) == ((), None, "the change is not certain")


def test_a_change_beside_other_programs_is_in_doubt(tmp_path: Path) -> None:
    """If they used more on the slower side, and could not be left out."""
    for name in "ab":
        (tmp_path / name).mkdir()
    seconds = {0: 4.0, 7: 6.0}
    (slower,) = history(tmp_path / "a", seconds, {0: (0.3, 0.3, 0.3), 7: (0.5, 0.5, 0.5)}).report().changes
    (faster,) = history(tmp_path / "b", seconds, {0: (0.5, 0.5, 0.5), 7: (0.3, 0.3, 0.3)}).report().changes

    assert slower.doubts == ("other programs used 30 % of the machine before, and 50 % from it on",)
    assert faster.doubts == ()


def test_a_run_beside_other_programs_is_left_out_where_two_are_left(tmp_path: Path) -> None:
    """Of three runs with two beside others none is left out."""
    found = history(tmp_path, {0: 4.0, 7: 4.0}, {0: (0.1, 0.9, 0.0), 7: (0.9, 0.9, 0.0)}).report()

    points = {one.measure: one.points for one in found.series}["fit_s"]
    assert [(len(one.values), one.left_out) for one in points] == [(2, 1), (3, 0)]
    assert found.commits[0].others_share == (0.1, 0.9, 0.0)


def test_a_main_measure_that_kept_its_level_is_told_beside_one_that_did_not(tmp_path: Path) -> None:
    """By the two commits alone."""
    found = history(tmp_path, {0: 4.0, 7: 4.0})
    results = found.what.results_of(found.commits[7])
    for result, cell in zip(found.what.results(found.commits[7]), found.what.matrix.cells(), strict=True):
        results.write(cell, structs.replace(result, measures={**result.measures, "wall_s": 12.0}))

    (change,) = found.report().changes

    assert [one.measure for one in change.measures] == ["wall_s"]
    assert [(one.measure, one.before, one.after) for one in change.unchanged] == [("fit_s", 4.04, 4.04)]
