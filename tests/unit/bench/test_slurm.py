"""A benchmark as an array of jobs of Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.bench import matrix, running, slurm
from dlprof.bench.results import Folder
from dlprof.errors import CannotCreateError, UnavailableError, UsageError
from dlprof.store import lock
from tests.unit.bench.matrices import GOOD, Runs, silent, written


def sbatch(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """An sbatch in front of the PATH."""
    tool = folder / "bin" / "sbatch"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{text}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")


def test_numbers_are_told_as_slurm_takes_them() -> None:
    """Neighbours as a range."""
    assert slurm.ranges([1, 2, 3, 5, 7, 8]) == "1-3,5,7-8"
    assert slurm.ranges([4]) == "4"


def test_what_is_left_becomes_an_array_of_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runs one of them on a machine of its own; without sbatch nothing is submitted."""
    path = written(tmp_path, GOOD)
    found, folder = matrix.load(path), Folder(tmp_path / "out")
    runs = Runs(monkeypatch)
    running.run_one(found, folder, 2, silent)
    assert runs.names == [found.cells()[1].name]

    jobs = slurm.prepare(path, found, folder)

    assert (jobs.runs, jobs.submitted) == (7, None)
    lines = jobs.script.read_text().splitlines()
    assert lines[:5] == [
        "#!/bin/bash", "#SBATCH --job-name=dlprof-m", "#SBATCH --array=1,3-8", "#SBATCH --nodes=1", "#SBATCH --exclusive",
    ]  # fmt: skip
    words = f'bench {path} -o {tmp_path}/out --repeat 2 --run "$SLURM_ARRAY_TASK_ID"'
    assert lines[-1].startswith("exec ")
    assert lines[-1].endswith(words)


def test_jobs_are_submitted_where_slurm_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what sbatch says; nothing is where nothing is left."""
    path = written(tmp_path, GOOD)
    found, folder = matrix.load(path), Folder(tmp_path / "out")
    sbatch(tmp_path, monkeypatch, f'echo "$1" >> {tmp_path}/given; echo Submitted batch job 7')
    assert slurm.prepare(path, found, folder).submitted == "Submitted batch job 7"
    assert (tmp_path / "given").read_text() == f"{tmp_path}/out/bench.sbatch\n"
    Runs(monkeypatch)
    running.run(found, folder, silent)
    assert slurm.prepare(path, found, folder) == slurm.Jobs(tmp_path / "out" / "bench.sbatch", 0, None)


def test_a_refusal_of_sbatch_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its own words."""
    path = written(tmp_path, GOOD)
    sbatch(tmp_path, monkeypatch, "echo 'sbatch: error: invalid partition' >&2; exit 1")
    with pytest.raises(UnavailableError, match="invalid partition"):
        slurm.prepare(path, matrix.load(path), Folder(tmp_path / "out"))


def test_one_run_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not while another job makes it, nor after; and there are no others than those of the matrix."""
    found, folder = matrix.load(written(tmp_path, GOOD)), Folder(tmp_path / "out")
    runs = Runs(monkeypatch)
    first = running.run_one(found, folder, 1, silent)
    assert running.run_one(found, folder, 1, silent) == first
    assert len(runs.names) == 1
    cell = found.cells()[2]
    claim = folder.path / "claims" / cell.name
    claim.mkdir()
    with lock.held(claim, "makes"), pytest.raises(CannotCreateError, match="Another dlprof makes the run of"):
        running.run_one(found, folder, 3, silent)
    with pytest.raises(UsageError, match="--run must lie between 1 and 8, not 9"):
        running.run_one(found, folder, 9, silent)
