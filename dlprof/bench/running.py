"""Runs the cells of a matrix, one after another, each in a dlprof of its own; goes on where it was ended."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlprof.backends import registry
from dlprof.bench import measures
from dlprof.bench.matrix import Cell, Matrix
from dlprof.errors import BadDataError, CannotCreateError, DlprofError, Report, UsageError
from dlprof.launch import environments
from dlprof.pipeline.opening import open_run
from dlprof.rundir import holds_something, replace_text
from dlprof.trials import processes

FORMAT = "dlprof.bench-state/1"


@dataclass(frozen=True)
class Folder:
    """The folder of a benchmark: `bench.json`; for each cell `cells/NAME.json`, `cells/NAME.txt` and `runs/NAME`."""

    path: Path

    @property
    def state(self) -> Path:
        """What was asked for: the matrix's digest, name and seed."""
        return self.path / "bench.json"

    def result(self, cell: Cell) -> Path:
        """What came out of a cell; it is there when the cell is over."""
        return self.path / "cells" / f"{cell.name}.json"

    def output(self, cell: Cell) -> Path:
        """What a cell printed."""
        return self.path / "cells" / f"{cell.name}.txt"

    def run(self, cell: Cell) -> Path:
        """The run folder of a cell."""
        return self.path / "runs" / cell.name

    def begin(self, matrix: Matrix) -> None:
        """Make the folder, or see that it is one of this matrix.

        Raises:
            UsageError: It holds the results of another matrix, or something else.
            CannotCreateError: It cannot be made.
        """
        if self.state.is_file():
            if self._read(self.state).get("digest") != matrix.digest:
                raise UsageError(
                    f"{self.path} holds results of another matrix than {matrix.name} is now.",
                    hint="-o another folder, or --restart to throw those results away",
                )
            return
        if holds_something(self.path):
            raise UsageError(f"{self.path} is not the folder of a benchmark, and not empty.", hint="-o another folder")
        try:
            for name in ("cells", "runs"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            _write(self.state, {"format": FORMAT, "name": matrix.name, "digest": matrix.digest, "seed": matrix.seed})
        except OSError as error:
            raise CannotCreateError(f"{self.path} cannot be made: {error.strerror}.") from error

    def results(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """What came out of the cells that are over."""
        return [self._read(self.result(cell)) for cell in cells if self.result(cell).is_file()]

    @staticmethod
    def _read(path: Path) -> dict[str, Any]:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadDataError(f"{path} cannot be read: {error}", hint="remove it: its cell is run again") from error
        return found if isinstance(found, dict) else {}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    replace_text(path, json.dumps(content, indent=1))


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


def run(matrix: Matrix, folder: Folder, report: Report) -> list[dict[str, Any]]:
    """Run every cell that is not over yet, and give the results of all.

    Raises:
        UsageError: The folder is another benchmark's.
        KeyboardInterrupt: Ctrl-C; the cell that ran then is run again next time.
    """
    folder.begin(matrix)
    cells = matrix.cells()
    waiting = [cell for cell in cells if not folder.result(cell).is_file()]
    if len(waiting) < len(cells):
        report(f"{len(cells) - len(waiting)} of {len(cells)} runs were made before; {len(waiting)} are left")
    refused = prepare(matrix, report) if waiting else {}
    clock = _Clock(len(waiting))
    for number, cell in enumerate(waiting, 1):
        report(f"{number}/{len(waiting)} {cell.work.name} on {cell.backend}, run {cell.number}{clock.left(number)}")
        if cell.backend in refused:
            result = {**_head(cell), "error": refused[cell.backend]}
        else:
            result = _run(cell, matrix, folder)
            clock.took(result["seconds"])
        if result["error"]:
            report(f"  failed: {result['error']}")
        _write(folder.result(cell), result)
    return folder.results(cells)


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


def _head(cell: Cell) -> dict[str, Any]:
    return {"work": cell.work.name, "backend": cell.backend, "number": cell.number, "measures": {}, "seconds": 0.0}


def _run(cell: Cell, matrix: Matrix, folder: Folder) -> dict[str, Any]:
    place = folder.run(cell)
    shutil.rmtree(place, ignore_errors=True)  # of a cell that was ended in the middle
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in matrix.trace.items()]
    command = [
        sys.executable, "-m", "dlprof", "trace", str(cell.work.script), "--backend", cell.backend, "-o", str(place),
        "--no-report", "--no-progress", *flags, "--", *cell.work.arguments,
    ]  # fmt: skip
    begin = time.perf_counter()
    with folder.output(cell).open("wb") as output:
        error = processes.ended(command, output, limit_s=matrix.limit_s)
    result = {**_head(cell), "seconds": time.perf_counter() - begin, "error": error}
    if error and error.startswith("exit"):
        result["error"] = f"{error}: {processes.last_line(folder.output(cell))}"
    with contextlib.suppress(DlprofError):
        result["measures"] = measures.of_run(open_run(str(place))) if not error else {}
    return result


@contextlib.contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the benchmark as Ctrl-C does: what runs is ended first."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
