"""Runs a matrix at every commit, in checkouts of its own, in turns; goes on where it was ended."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dlprof.bench import running
from dlprof.bench.matrix import Cell, Matrix, Work
from dlprof.bench.results import CellResult, Folder
from dlprof.errors import Report, UsageError
from dlprof.history import sources
from dlprof.history.repository import Commit, Repository
from dlprof.rundir import holds_something, replace_text, writing_into
from dlprof.store import lock

FORMAT = "dlprof.history-state/1"


@dataclass(frozen=True)
class Measured:
    """What is measured, and where it goes.

    Attributes:
        repository: The repository.
        matrix: The matrix; its scripts lie in the repository.
        folder: The results: `history.json`, and `commits/SHA`, the folder of a benchmark, for each commit.
        python: The interpreter that runs the scripts; None: the backends of the matrix.
    """

    repository: Repository
    matrix: Matrix
    folder: Path
    python: str | None = None

    def __post_init__(self) -> None:
        outside = [work.script for work in self.matrix.work if not work.script.is_relative_to(self.repository.root)]
        if outside:
            raise UsageError(
                f"{outside[0]} does not lie in {self.repository.root}.",
                hint="a script is run as each commit has it; it counts from the matrix: move that into the checkout",
            )
        ranked = [work.name for work in self.matrix.work if work.axis is not None]
        if ranked:
            raise UsageError(f"{ranked[0]} has ranks, which are not followed over commits.", hint="dlprof bench")

    def results_of(self, commit: Commit) -> Folder:
        """The folder of a commit."""
        return Folder(self.folder / "commits" / commit.short)

    def cells(self, numbers: Iterable[int]) -> list[Cell]:
        """All works on all backends, once for each number."""
        works = [(work, backend) for work in self.matrix.work for backend in work.backends]
        return [Cell(work, backend, number) for number in numbers for work, backend in works]

    def results(self, commit: Commit) -> list[CellResult]:
        """What came out of a commit so far."""
        return self.results_of(commit).results(self.cells(range(1, self.runs_of(commit) + 1)))

    def runs_of(self, commit: Commit) -> int:
        """The highest number of a run of a commit; 0: there is none."""
        names = (self.results_of(commit).path / "cells").glob("*.json")
        return max((int(name.stem.rpartition("-")[2]) for name in names), default=0)

    def is_measured(self, commit: Commit) -> bool:
        """Whether all that was asked for of a commit is over."""
        folder = self.results_of(commit)
        return all(folder.result(cell).is_file() for cell in self.cells(range(1, self.matrix.repeat + 1)))

    def unnamed(self, shas: Sequence[str], work: Work) -> list[str] | None:
        """What differs between two commits, if a work's sources name none of it; None: they may read some of it."""
        script = work.script.relative_to(self.repository.root).as_posix()
        return sources.unnamed(self.repository, shas, script, work.arguments)

    def begin(self) -> None:
        """Make the folder, or see that it is one of this repository and this matrix.

        Raises:
            UsageError: It holds other results, or something else.
            CannotCreateError: It cannot be made.
        """
        state = self.folder / "history.json"
        head = {"format": FORMAT, "repository": str(self.repository.root), "digest": self.matrix.digest}
        if state.is_file():
            if json.loads(state.read_text(encoding="utf-8")) != head:
                raise UsageError(
                    f"{self.folder} holds results of another repository or matrix.", hint="-o another folder"
                )
        elif holds_something(self.folder):
            raise UsageError(f"{self.folder} is not the folder of a history, and not empty.", hint="-o another folder")
        with writing_into(self.folder):
            # What says whose folder it is comes first: Ctrl-C may come between any two of these.
            self.folder.mkdir(parents=True, exist_ok=True)
            if not state.is_file():
                replace_text(state, json.dumps(head, indent=1))
            (self.folder / "commits").mkdir(exist_ok=True)


@dataclass(frozen=True)
class Wanted:
    """Runs of a commit that are to be made.

    Attributes:
        commit: The commit.
        numbers: Their numbers.
    """

    commit: Commit
    numbers: range


def run(what: Measured, first: Sequence[Wanted], report: Report, more: Callable[[], Sequence[Wanted]]) -> None:
    """Run the matrix at commits, and then at those that are asked for, until no more are.

    Args:
        what: What is measured.
        first: What is to be run first.
        report: Takes a line about each run.
        more: What is to be run by what is known so far; none: enough is known.

    Raises:
        UsageError: The folder is another history's.
        CannotCreateError: Another dlprof runs one in it.
        KeyboardInterrupt: Ctrl-C; the run that was going on is made again next time.
    """
    what.begin()
    with lock.held(what.folder, "measures a history in", wait_s=0), _checkouts(what) as checkout_of:
        refused = {} if what.python else running.prepare(what.matrix, report)
        wanted, bisecting = first, ""
        while wanted:
            waiting = list(_waiting(what, wanted))
            for number, (commit, cell) in enumerate(waiting, 1):
                report(f"{bisecting}{number}/{len(waiting)} {commit.short} {cell.work.name}, run {cell.number}")
                what.results_of(commit).begin(what.matrix)
                why_not = refused.get(cell.backend)
                result = _failed(cell, why_not) if why_not else _run(what, commit, cell, checkout_of)
                if result.error:
                    report(f"  failed: {result.error}")
                what.results_of(commit).write(cell, result)
            wanted, bisecting = more(), "bisecting, "
            if wanted:
                names = ", ".join(one.commit.short for one in wanted)
                report(f"bisecting: a measure changed between commits that are no neighbours; runs of {names} follow")


def _waiting(what: Measured, wanted: Sequence[Wanted]) -> Iterator[tuple[Commit, Cell]]:
    """What is not over yet: all commits once, in random order, then all once more, so that all meet the same drift."""
    order = random.Random(what.matrix.seed)  # noqa: S311  (an order, not a secret)
    for turn in range(max((len(one.numbers) for one in wanted), default=0)):
        numbers = [(one.commit, one.numbers[turn : turn + 1]) for one in wanted]
        once = [(commit, cell) for commit, number in numbers for cell in what.cells(number)]
        order.shuffle(once)
        yield from (pair for pair in once if not what.results_of(pair[0]).result(pair[1]).is_file())


def _run(what: Measured, commit: Commit, cell: Cell, checkout_of: Callable[[Commit], Path]) -> CellResult:
    checkout = checkout_of(commit)
    script = checkout / cell.work.script.relative_to(what.repository.root)
    if not script.is_file():
        return _failed(cell, f"there is no {script.relative_to(checkout)} in this commit")
    work = Work(cell.work.name, script, cell.work.arguments, cell.work.backends)
    place = running.Place(checkout, what.python)
    return running.run_cell(replace(cell, work=work), what.matrix, what.results_of(commit), place)


def _failed(cell: Cell, why: str) -> CellResult:
    return CellResult(work=cell.work.name, backend=cell.backend, number=cell.number, error=why)


@contextmanager
def _checkouts(what: Measured) -> Iterator[Callable[[Commit], Path]]:
    """Gives the checkout of a commit, made when it is asked for; all are removed in the end."""
    place = (what.folder / "checkouts").absolute()
    made: dict[str, Path] = {}

    def checkout_of(commit: Commit) -> Path:
        if commit.sha not in made:
            folder = place / commit.short
            what.repository.remove(folder)  # of a history that was killed
            what.repository.check_out(commit, folder)
            made[commit.sha] = folder
        return made[commit.sha]

    try:
        yield checkout_of
    finally:
        for folder in made.values():
            what.repository.remove(folder)
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
