"""The folder of a benchmark, and the results in it: one file for each run that is over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from dlprof.bench.matrix import Cell, Matrix
from dlprof.errors import BadDataError, UsageError
from dlprof.rundir import holds_something, replace_text, writing_into

FORMAT = "dlprof.bench-state/1"


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came out of a run."""

    work: str
    backend: str
    number: int
    """Which of the repeats, from 1 on."""
    ranks: int | None = None
    """With how many ranks; None: as one process, without a launcher."""
    node: str | None = None
    """Name of the machine that it ran on; None: not told."""
    measures: Mapping[str, float | None] = msgspec.field(default_factory=dict)
    """By the names in `dlprof.bench.measures.MEASURES`, and `RANK_MEASURES`; empty where it failed."""
    seconds: float = 0.0
    """How long it took, dlprof and all (s)."""
    others_share: float | None = None
    """What other programs used of the machine's cores meanwhile; None: not measured."""
    error: str | None = None
    """Why it failed; None: it came to its end."""


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
            if _read(self.state).get("digest") != matrix.digest:
                raise UsageError(
                    f"{self.path} holds results of another matrix than {matrix.name} is now.",
                    hint="-o another folder, or --restart to throw those results away",
                )
        elif holds_something(self.path):
            raise UsageError(f"{self.path} is not the folder of a benchmark, and not empty.", hint="-o another folder")
        with writing_into(self.path):
            # What says whose folder it is comes first: Ctrl-C may come between any two of these.
            self.path.mkdir(parents=True, exist_ok=True)
            if not self.state.is_file():
                head = {"format": FORMAT, "name": matrix.name, "digest": matrix.digest, "seed": matrix.seed}
                replace_text(self.state, json.dumps(head, indent=1))
            for name in ("cells", "runs"):
                (self.path / name).mkdir(exist_ok=True)

    def write(self, cell: Cell, result: CellResult) -> None:
        """Keep what came out of a cell."""
        replace_text(self.result(cell), json.dumps(msgspec.structs.asdict(result), indent=1))

    def results(self, cells: Sequence[Cell]) -> list[CellResult]:
        """What came out of the cells that are over.

        Raises:
            BadDataError: A result is damaged.
        """
        paths = [self.result(cell) for cell in cells if self.result(cell).is_file()]
        return [_result(path) for path in paths]


def _result(path: Path) -> CellResult:
    try:
        return msgspec.convert(_read(path), CellResult)
    except msgspec.ValidationError as error:
        raise _damaged(path, error) from error


def _read(path: Path) -> Any:
    try:
        # Not by msgspec: a loss may be NaN, which is no JSON but what Python writes.
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> BadDataError:
    return BadDataError(f"{path} cannot be read: {error}", hint="remove it: its cell is run again")
