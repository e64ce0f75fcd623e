"""A benchmark as an array of jobs of Slurm: a job for each run that is left, a machine of its own for each."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dlprof.bench.matrix import Matrix
from dlprof.bench.results import Folder
from dlprof.errors import UnavailableError
from dlprof.rundir import replace_text, writing_into

SCRIPT = "bench.sbatch"
_OUTPUTS = "slurm"


@dataclass(frozen=True)
class Jobs:
    """An array of jobs.

    Attributes:
        script: What `sbatch` takes.
        runs: How many runs are left.
        submitted: What sbatch said; None: it is not here, so nothing was submitted.
    """

    script: Path
    runs: int
    submitted: str | None


def prepare(matrix_file: Path, matrix: Matrix, folder: Folder) -> Jobs:
    """Write the script of what is left of a benchmark, and submit it where Slurm is.

    Args:
        matrix_file: The file of the matrix.
        matrix: Its content.
        folder: The results.

    Raises:
        UsageError: The folder is another benchmark's.
        CannotCreateError: It cannot be written.
        UnavailableError: sbatch refuses the jobs.
    """
    folder.begin(matrix)
    cells = matrix.cells()
    left = [number for number, cell in enumerate(cells, 1) if not folder.result(cell).is_file()]
    path = folder.path / SCRIPT
    with writing_into(folder.path):
        (folder.path / _OUTPUTS).mkdir(exist_ok=True)
        replace_text(path, _text(matrix_file, matrix, folder, left))
    sbatch = shutil.which("sbatch")
    submitted = _submitted(sbatch, path) if sbatch is not None and left else None
    return Jobs(path, len(left), submitted)


def _submitted(sbatch: str, path: Path) -> str:
    done = subprocess.run([sbatch, str(path)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise UnavailableError(
            f"sbatch refuses {path}: {lines[-1][:200]}", hint="SBATCH_PARTITION and its kin, or edit it"
        )
    return done.stdout.strip()


def _text(matrix_file: Path, matrix: Matrix, folder: Folder, left: Sequence[int]) -> str:
    """The script: one job runs one run, of which its number in the array says which."""
    command = [
        sys.executable, "-P", "-m", "dlprof", "bench", str(matrix_file.absolute()),
        "-o", str(folder.path.absolute()), "--repeat", str(matrix.repeat), "--run",
    ]  # fmt: skip
    outputs = folder.path.absolute() / _OUTPUTS
    return "\n".join(
        [
            "#!/bin/bash",
            f"#SBATCH --job-name=dlprof-{matrix.name}",
            f"#SBATCH --array={ranges(left)}",
            "#SBATCH --nodes=1",
            "#SBATCH --exclusive",  # runs beside each other would measure each other
            f"#SBATCH --output={outputs}/%a.txt",
            f"cd {shlex.quote(os.getcwd())} || exit 73",  # noqa: PTH109  (as the user sees it)
            f'exec {shlex.join(command)} "$SLURM_ARRAY_TASK_ID"',
            "",
        ]
    )


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as Slurm takes them: `1-3,5`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)
