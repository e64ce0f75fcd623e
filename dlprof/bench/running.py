"""Runs the cells of a matrix, one after another, each in a dlprof of its own; goes on where it was ended."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dlprof.backends import registry
from dlprof.bench import measures, rank_measures
from dlprof.bench.matrix import Cell, Matrix
from dlprof.bench.results import CellResult, Folder
from dlprof.errors import DlprofError, Report, UsageError
from dlprof.launch import children, environments
from dlprof.pipeline.opening import open_run
from dlprof.rundir import writing_into
from dlprof.store import lock


def prepare(matrix: Matrix, report: Report) -> dict[str, str]:
    """Make the environments of all backends, before anything is timed.

    Returns:
        Backends that cannot be used, and why.
    """
    refused = {}
    for name in dict.fromkeys(backend for work in matrix.work for backend in work.backends):
        try:
            environments.ensure(registry.get(name), report=report)
        except DlprofError as error:
            refused[name] = error.message
    return refused


def run(matrix: Matrix, folder: Folder, report: Report) -> list[CellResult]:
    """Run every cell that is not over yet, and give the results of all.

    Raises:
        UsageError: The folder is another benchmark's.
        CannotCreateError: Another dlprof runs one in it.
        KeyboardInterrupt: Ctrl-C; the cell that ran then is run again next time.
    """
    folder.begin(matrix)
    with lock.held(folder.path, "runs a benchmark in", wait_s=0):
        return _run_all(matrix, folder, report)


def run_one(matrix: Matrix, folder: Folder, number: int, report: Report) -> CellResult:
    """Run one cell, as a job of an array does, beside those of other machines; one that is over is not run again.

    Args:
        matrix: The matrix.
        folder: The results.
        number: Which of its runs, from 1 on, in the order of the matrix.
        report: Takes a line for the user.

    Raises:
        UsageError: There is no such run, or the folder is another benchmark's.
        CannotCreateError: Another dlprof runs it.
    """
    cells = matrix.cells()
    if not 1 <= number <= len(cells):
        raise UsageError(f"--run must lie between 1 and {len(cells)}, not {number}.")
    folder.begin(matrix)
    cell = cells[number - 1]
    claim = folder.path / "claims" / cell.name
    with writing_into(folder.path):
        claim.mkdir(parents=True, exist_ok=True)
    with lock.held(claim, "makes the run of", wait_s=0):
        done = folder.results([cell])
        if done:
            return done[0]
        report(f"{cell.work.name} on {cell.backend}{_ranks(cell)}, run {cell.number}")
        refused = prepare(replace(matrix, work=[replace(cell.work, backends=(cell.backend,))]), report)
        why = refused.get(cell.backend)
        result = _result(cell, error=why) if why else run_cell(cell, matrix, folder)
        folder.write(cell, result)
        return result


def _run_all(matrix: Matrix, folder: Folder, report: Report) -> list[CellResult]:
    cells = matrix.cells()
    waiting = [cell for cell in cells if not folder.result(cell).is_file()]
    if len(waiting) < len(cells):
        report(f"{len(cells) - len(waiting)} of {len(cells)} runs were made before; {len(waiting)} are left")
    refused = prepare(matrix, report) if waiting else {}
    clock = _Clock(len(waiting))
    for number, cell in enumerate(waiting, 1):
        what = f"{cell.work.name} on {cell.backend}{_ranks(cell)}, run {cell.number}"
        report(f"{number}/{len(waiting)} {what}{clock.left(number)}")
        if cell.backend in refused:
            result = _result(cell, error=refused[cell.backend])
        else:
            result = run_cell(cell, matrix, folder)
            clock.took(result.seconds)
        if result.error:
            report(f"  failed: {result.error}")
        folder.write(cell, result)
    return folder.results(cells)


def _ranks(cell: Cell) -> str:
    if cell.ranks is None:
        return ""
    return f" with {cell.ranks} rank{'s' * (cell.ranks > 1)}"


class _Clock:
    """How long the rest will take, by the mean of what was run so far."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._seconds: list[float] = []

    def took(self, seconds: float) -> None:
        """A run is over."""
        self._seconds.append(seconds)

    def left(self, number: int) -> str:
        """The time left, as a text, before run `number`."""
        if not self._seconds:
            return ""
        left = (self._count - number + 1) * sum(self._seconds) / len(self._seconds)
        return f"; about {left / 60:.0f} min left" if left >= 90 else f"; about {left:.0f} s left"


@dataclass(frozen=True)
class Place:
    """Where a cell is run, and by what.

    Attributes:
        folder: The working directory, from which the script is named; None: this one.
        python: The interpreter in place of a managed backend; None: that of the cell's backend.
    """

    folder: Path | None = None
    python: str | None = None


def run_cell(cell: Cell, matrix: Matrix, folder: Folder, place: Place = Place()) -> CellResult:
    """Run a cell, and say what came out of it; what an earlier attempt left is thrown away.

    Args:
        cell: The cell.
        matrix: Its matrix.
        folder: Where its run and its output go.
        place: Where it is run, and by what.
    """
    shutil.rmtree(folder.run(cell), ignore_errors=True)  # of a cell that was ended in the middle
    begin = time.perf_counter()
    with folder.output(cell).open("wb") as output:
        command = _command(cell, matrix, folder.run(cell).absolute(), place)
        error = children.run_to_end(
            command, output, limit_s=matrix.limit_s, folder=place.folder, environment=_environment(cell)
        )
    seconds = time.perf_counter() - begin
    if error and error.startswith("exit"):
        error = f"{error}: {_why(cell, folder)}"
    measured = _measures(folder.run(cell), cell) if not error else {}
    if cell.ranks is not None and not error and not measured:
        error = f"it left no run of {cell.ranks} ranks"
    share = measures.others_share(open_run(str(folder.run(cell)))) if measured and cell.ranks is None else None
    return _result(cell, seconds=seconds, error=error, measured=measured, others_share=share)


def _command(cell: Cell, matrix: Matrix, target: Path, place: Place) -> list[str]:
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in matrix.trace.items()]
    script = os.path.relpath(cell.work.script, place.folder) if place.folder else str(cell.work.script)
    with_what = ["--python", place.python] if place.python else ["--backend", cell.backend]
    return [
        *_launcher(cell, place), sys.executable, "-P", "-m", "dlprof", "trace", script,
        *with_what, "-o", str(target), "--no-report", "--no-progress", *flags, "--", *cell.arguments,
    ]  # fmt: skip


def _launcher(cell: Cell, place: Place) -> list[str]:
    """What starts the ranks of a cell, each with a dlprof of its own; also one rank alone, so that all begin alike."""
    if cell.ranks is None:
        return []
    python = place.python or str(environments.ensure(registry.get(cell.backend), report=_silent).python)
    count = ["--nproc-per-node", str(cell.ranks)]
    return [python, "-m", "torch.distributed.run", "--standalone", *count, "--no-python"]


def _silent(_line: str) -> None:
    """Environments were made, and told of, before."""


def _environment(cell: Cell) -> dict[str, str] | None:
    """Its environment variables; None: those of this process."""
    axis = cell.work.axis
    # torchrun gives one thread to each of several ranks, and all cores to one alone: the two could not be compared.
    return None if axis is None else {**os.environ, "OMP_NUM_THREADS": str(axis.threads)}


def _why(cell: Cell, folder: Folder) -> str:
    """Why a cell failed, in a few words: of ranks, the one that ended first; torchrun's last line is a rule."""
    if cell.ranks is not None:
        with contextlib.suppress(DlprofError):
            found = rank_measures.opened(folder.run(cell))
            first = rank_measures.first_to_fail(found)
            if first is not None:
                return first
    return children.last_line(folder.output(cell))


def _measures(place: Path, cell: Cell) -> dict[str, float | None]:
    try:
        if cell.ranks is not None:
            return rank_measures.measure(rank_measures.opened(place), cell.ranks)
        return measures.measure(open_run(str(place)))
    except DlprofError:
        return {}


def _result(
    cell: Cell,
    *,
    seconds: float = 0.0,
    error: str | None = None,
    measured: Mapping[str, float | None] | None = None,
    others_share: float | None = None,
) -> CellResult:
    return CellResult(
        work=cell.work.name,
        backend=cell.backend,
        number=cell.number,
        ranks=cell.ranks,
        node=platform.node() or None,
        measures=measured or {},
        seconds=seconds,
        others_share=others_share,
        error=error,
    )
