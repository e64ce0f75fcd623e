"""Benchmarks: matrices, the order of runs, going on after an end, sums and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.bench import matrix, measures, running, tables
from dlprof.errors import BadDataError, NoInputError, UsageError

GOOD = """
repeat = 2
seed = 7
backends = ["tensorflow", "mxnet"]
[[work]]
script = "a.py"
arguments = ["--n", 3]
[[work]]
name = "b"
script = "a.py"
backends = ["jax"]
[work.sets]
small = ["--batch", 1]
large = ["--batch", 64]
"""


def written(folder: Path, text: str) -> Path:
    """A matrix and the script that it names."""
    (folder / "a.py").write_text("")
    path = folder / "m.toml"
    path.write_text(text)
    return path


def test_a_matrix_names_every_pair_as_often_as_it_says(tmp_path: Path) -> None:
    """Work x set x backend x repeat."""
    found = matrix.load(written(tmp_path, GOOD))

    assert found.name == "m"
    assert found.work[0].arguments == ("--n", "3")
    assert sorted(cell.name for cell in found.cells()) == [
        "a-mxnet-001", "a-mxnet-002", "a-tensorflow-001", "a-tensorflow-002",
        "b-large-jax-001", "b-large-jax-002", "b-small-jax-001", "b-small-jax-002",
    ]  # fmt: skip


def test_every_pair_runs_once_before_any_runs_twice(tmp_path: Path) -> None:
    """And the order is the seed's."""
    path = written(tmp_path, GOOD)
    first = [cell.name for cell in matrix.load(path).cells()]

    assert {name[-3:] for name in first[:4]} == {"001"}
    assert [cell.name for cell in matrix.load(path).cells()] == first
    written(tmp_path, GOOD.replace("seed = 7", "seed = 8").replace("repeat = 2", "repeat = 20"))
    orders = [[c.name[:-4] for c in matrix.load(path).cells()][4 * n : 4 * n + 4] for n in range(20)]
    assert len({tuple(order) for order in orders}) > 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to run"),
        ("work = 3", "work must be a list"),
        ("[[work]]\n", "has no script"),
        ("[[work]]\nscript = 'a.py'\n", "no backends"),
        ("[[work]]\nscript = 'a.py'\nbackends = ['tensorflo']\n", "There is no backend tensorflo"),
        ("[[work]]\nscript = 'a.py'\nbackends = ['jax', 'jax']\n", "names one twice"),
        ("[[work]]\nscript = 'a.py'\nbackend = ['jax']\n", "unknown key backend"),
        ("repeats = 3\n[[work]]\nscript = 'a.py'\n", "unknown key repeats"),
        ("repeat = 0\nbackends = ['jax']\n[[work]]\nscript = 'a.py'\n", "repeat must be a whole number from 1"),
        ("repeat = true\nbackends = ['jax']\n[[work]]\nscript = 'a.py'\n", "repeat must be a whole number"),
        ("limit_s = -1\nbackends = ['jax']\n[[work]]\nscript = 'a.py'\n", "limit_s must be"),
        ("backends = ['jax']\n[[work]]\nscript = 'a.py'\n[[work]]\nscript = 'a.py'\n", "two [[work]] have the name a"),
        ("backends = ['jax']\n[[work]]\nname = '../x'\nscript = 'a.py'\n", "name must be letters"),
        ("backends = ['jax']\n[[work]]\nscript = 'a.py'\narguments = [{}]\n", "arguments must be texts or numbers"),
        ("backends = ['jax']\n[trace]\noutput = 'x'\n[[work]]\nscript = 'a.py'\n", "[trace] unknown key output"),
        ("[[work", "cannot be read"),
    ],
)
def test_a_matrix_that_makes_no_sense_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """With its name and what is wrong."""
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        matrix.load(path)
    assert words in error.value.message
    assert str(path) in error.value.message


def test_a_matrix_or_a_script_that_is_not_there_is_no_input(tmp_path: Path) -> None:
    """As for every other command."""
    with pytest.raises(NoInputError):
        matrix.load(tmp_path / "none.toml")
    with pytest.raises(NoInputError, match=r"there is no script b\.py"):
        matrix.load(written(tmp_path, "backends = ['jax']\n[[work]]\nscript = 'b.py'\n"))


class Runs:
    """Stands in for the runs themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        self.end_after: int | None = None
        self.error: dict[str, str] = {}
        monkeypatch.setattr(running, "_run", self._run)
        monkeypatch.setattr(running, "prepare", lambda _matrix, _say: {})

    def _run(self, cell: matrix.Cell, _matrix: matrix.Matrix, _folder: running.Folder) -> dict[str, Any]:
        if len(self.names) == self.end_after:
            raise KeyboardInterrupt
        self.names.append(cell.name)
        error = self.error.get(cell.name)
        return {"work": cell.work.name, "backend": cell.backend, "number": cell.number, "error": error,
                "measures": {} if error else {"wall_s": 2.0 + cell.number}, "seconds": 1.0}  # fmt: skip


def silent(_line: str) -> None:
    """Say nothing."""


def test_a_benchmark_goes_on_where_it_was_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is made once, in the order of the seed."""
    found = matrix.load(written(tmp_path, GOOD))
    runs, folder = Runs(monkeypatch), running.Folder(tmp_path / "out")
    runs.end_after = 3
    with pytest.raises(KeyboardInterrupt):
        running.run(found, folder, silent)
    runs.end_after = None

    results = running.run(found, folder, silent)

    assert runs.names == [cell.name for cell in found.cells()]
    assert len(results) == 8


def test_a_run_that_fails_is_noted_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others count without it."""
    found = matrix.load(written(tmp_path, GOOD))
    runs = Runs(monkeypatch)
    runs.error["a-mxnet-001"] = "exit code 1: boom"

    rows = measures.rows(running.run(found, running.Folder(tmp_path / "out"), silent), 1)

    row = next(row for row in rows if (row.work, row.backend) == ("a", "mxnet"))
    assert (row.runs, row.failed, row.medians) == (1, ("exit code 1: boom",), {"wall_s": 4.0})


def test_results_of_another_matrix_are_not_mixed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But more repeats of the same are welcome."""
    Runs(monkeypatch)
    folder = running.Folder(tmp_path / "out")
    running.run(matrix.load(written(tmp_path, GOOD)), folder, silent)

    more = running.run(matrix.load(written(tmp_path, GOOD.replace("repeat = 2", "repeat = 3"))), folder, silent)

    assert len(more) == 12
    with pytest.raises(UsageError, match="another matrix"):
        running.run(matrix.load(written(tmp_path, GOOD.replace('"--n", 3', '"--n", 4'))), folder, silent)


def test_a_folder_with_other_things_in_it_is_not_used(tmp_path: Path) -> None:
    """Nothing of the user's is touched."""
    found = matrix.load(written(tmp_path, GOOD))
    with pytest.raises(UsageError, match="is not the folder of a benchmark"):
        running.run(found, running.Folder(tmp_path), silent)


def test_a_damaged_result_is_an_error_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a run."""
    found = matrix.load(written(tmp_path, GOOD))
    Runs(monkeypatch)
    folder = running.Folder(tmp_path / "out")
    running.run(found, folder, silent)
    folder.result(found.cells()[0]).write_text("{")
    with pytest.raises(BadDataError) as error:
        running.run(found, folder, silent)
    assert "run again" in str(error.value.hint)


def test_a_backend_that_cannot_be_had_fails_its_runs_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason that the backend gave."""
    found = matrix.load(written(tmp_path, GOOD))
    runs = Runs(monkeypatch)
    monkeypatch.setattr(running, "prepare", lambda _matrix, _say: {"mxnet": "no interpreter"})

    rows = measures.rows(running.run(found, running.Folder(tmp_path / "out"), silent), 1)

    assert {row.failed for row in rows if row.backend == "mxnet"} == {("no interpreter",)}
    assert not [name for name in runs.names if "mxnet" in name]


def result(number: int, **values: float | None) -> dict[str, Any]:
    """A run."""
    return {"work": "w", "backend": "b", "number": number, "error": None, "measures": values}


def test_a_row_is_the_median_with_its_interval() -> None:
    """Over five runs; a measure that no run has is missing, not 0."""
    (row,) = measures.rows([result(n, wall_s=float(n), loss=None) for n in (1, 2, 3, 4, 5)], 1)

    assert row.medians == {"wall_s": 3.0}
    low, high = row.intervals["wall_s"]
    assert 1.0 <= low < 3.0 < high <= 5.0


def test_two_runs_have_no_interval() -> None:
    """There is nothing to draw from."""
    (row,) = measures.rows([result(1, wall_s=1.0), result(2, wall_s=2.0)], 1)

    assert (row.medians, row.intervals) == ({"wall_s": 1.5}, {})


ROWS = [
    measures.Row("mlp", "jax", 3, (), {"wall_s": 12.3456, "samples_per_s": 12345.6}, {"wall_s": (12.0, 13.0)}),
    measures.Row("mlp", "mxnet", 0, ("exit code 1: boom",), {}, {}),
]


def test_the_markdown_has_a_line_for_each_pair_and_the_failures_below() -> None:
    """Measures that nobody has are left out."""
    assert tables.as_markdown(ROWS) == (
        "| work | backend | runs | whole process (s) | samples per second, steady |\n"
        "| --- | --- | ---: | ---: | ---: |\n"
        "| mlp | jax | 3 | 12.3 [12, 13] | 12,346 |\n"
        "| mlp | mxnet | 0 | - | - |\n"
        "\n"
        "Failed:\n"
        "\n"
        "- mlp on mxnet: exit code 1: boom\n"
    )


def test_the_csv_has_every_measure_and_leaves_unknown_ones_empty() -> None:
    """With both ends of the interval."""
    lines = tables.as_csv(ROWS).splitlines()

    assert lines[0].startswith("work,backend,runs,failed,wall_s,wall_s_low,wall_s_high,construct_s")
    assert lines[1].startswith("mlp,jax,3,,12.3456,12.0,13.0,,,")
    assert lines[2].startswith("mlp,mxnet,0,exit code 1: boom,,,")


def test_the_json_says_null_where_nothing_was_measured(tmp_path: Path) -> None:
    """Never 0."""
    content = json.loads(json.dumps(tables.as_json(matrix.load(written(tmp_path, GOOD)), ROWS)))

    assert content["schema"] == "dlprof.bench/1"
    assert content["rows"][1]["median"]["wall_s"] is None
    assert content["rows"][0]["interval"]["wall_s"] == [12.0, 13.0]
