"""A matrix for tests, and what stands in for its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.bench import matrix, running
from dlprof.bench.results import CellResult, Folder

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


class Runs:
    """Stands in for the runs themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        self.end_after: int | None = None
        self.error: dict[str, str] = {}
        monkeypatch.setattr(running, "run_cell", self._run)
        monkeypatch.setattr(running, "prepare", lambda _matrix, _say: {})

    def _run(self, cell: matrix.Cell, _matrix: matrix.Matrix, _folder: Folder) -> CellResult:
        if len(self.names) == self.end_after:
            raise KeyboardInterrupt
        self.names.append(cell.name)
        error = self.error.get(cell.name)
        return CellResult(
            work=cell.work.name,
            backend=cell.backend,
            number=cell.number,
            error=error,
            measures={} if error else {"wall_s": 2.0 + cell.number},
            seconds=1.0,
        )


def silent(_line: str) -> None:
    """Say nothing."""
