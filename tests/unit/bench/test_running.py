"""Runs of a matrix: going on after an end, failures, folders of others."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dlprof.bench import matrix, measures, running
from dlprof.bench.results import Folder
from dlprof.errors import BadDataError, CannotCreateError, UsageError
from dlprof.launch import children, environments
from dlprof.store import lock
from tests.unit.bench.matrices import GOOD, Runs, silent, written


def test_a_benchmark_goes_on_where_it_was_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is made once, in the order of the seed."""
    found = matrix.load(written(tmp_path, GOOD))
    runs, folder = Runs(monkeypatch), Folder(tmp_path / "out")
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

    rows = measures.rows(running.run(found, Folder(tmp_path / "out"), silent), 1)

    row = next(row for row in rows if (row.work, row.backend) == ("a", "mxnet"))
    assert (row.runs, row.failed, row.medians) == (1, ("exit code 1: boom",), {"wall_s": 4.0})


def test_results_of_another_matrix_are_not_mixed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But more repeats of the same are welcome."""
    Runs(monkeypatch)
    folder = Folder(tmp_path / "out")
    running.run(matrix.load(written(tmp_path, GOOD)), folder, silent)

    more = running.run(matrix.load(written(tmp_path, GOOD.replace("repeat = 2", "repeat = 3"))), folder, silent)

    assert len(more) == 12
    with pytest.raises(UsageError, match="another matrix"):
        running.run(matrix.load(written(tmp_path, GOOD.replace('"--n", 3', '"--n", 4'))), folder, silent)


def test_a_folder_with_other_things_in_it_is_not_used(tmp_path: Path) -> None:
    """Nothing of the user's is touched."""
    found = matrix.load(written(tmp_path, GOOD))
    with pytest.raises(UsageError, match="is not the folder of a benchmark"):
        running.run(found, Folder(tmp_path), silent)


def test_a_damaged_result_is_an_error_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a run."""
    found = matrix.load(written(tmp_path, GOOD))
    Runs(monkeypatch)
    folder = Folder(tmp_path / "out")
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

    rows = measures.rows(running.run(found, Folder(tmp_path / "out"), silent), 1)

    assert {row.failed for row in rows if row.backend == "mxnet"} == {("no interpreter",)}
    assert not [name for name in runs.names if "mxnet" in name]


def test_a_second_benchmark_in_a_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the first runs: both would make the same runs."""
    found = matrix.load(written(tmp_path, GOOD))
    runs, folder = Runs(monkeypatch), Folder(tmp_path / "out")
    folder.begin(found)

    with lock.held(folder.path, "runs a benchmark in"), pytest.raises(CannotCreateError, match="Another dlprof runs a"):
        running.run(found, folder, silent)

    assert runs.names == []


def test_ranks_are_started_by_torchrun_with_a_dlprof_in_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the threads of the matrix, and the arguments of so many ranks; one that leaves no run has failed."""
    given: dict[str, Any] = {}

    def run_to_end(command: list[str], _output: object, **how: Any) -> None:
        given.update(how, command=command)

    monkeypatch.setattr(children, "run_to_end", run_to_end)
    environment = SimpleNamespace(python=Path("/env/python"))
    monkeypatch.setattr(environments, "ensure", lambda _spec, report: environment)
    text = """
backends = ["native-torch"]
[[work]]
script = "a.py"
arguments = ["--batch", "{512/ranks}"]
ranks = [2]
threads = 3
"""
    found, folder = matrix.load(written(tmp_path, text)), Folder(tmp_path / "out")
    folder.begin(found)

    result = running.run_cell(found.cells()[0], found, folder)

    launcher = ["/env/python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
    assert given["command"][:8] == [*launcher, sys.executable]
    assert given["command"][-3:] == ["--", "--batch", "256"]
    assert given["environment"]["OMP_NUM_THREADS"] == "3"
    assert (result.ranks, result.error) == (2, "it left no run of 2 ranks")
