"""The folder of a benchmark."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from dlprof.bench import matrix
from dlprof.bench.results import CellResult, Folder
from dlprof.errors import BadDataError
from tests.unit.bench.matrices import GOOD, written


@pytest.fixture
def cell(tmp_path: Path) -> matrix.Cell:
    """The first run of a matrix."""
    return matrix.load(written(tmp_path, GOOD)).cells()[0]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder that the matrix has begun."""
    folder = Folder(tmp_path / "out")
    folder.begin(matrix.load(written(tmp_path, GOOD)))
    return folder


def test_what_came_out_of_a_run_is_kept(folder: Folder, cell: matrix.Cell) -> None:
    """A loss that is no number stays none: Python writes it as NaN."""
    folder.write(cell, CellResult(work="a", backend="jax", number=2, measures={"loss": math.nan, "wall_s": 1.5}))

    (result,) = folder.results([cell])

    assert (result.work, result.backend, result.number, result.error) == ("a", "jax", 2, None)
    assert result.measures["wall_s"] == 1.5
    assert math.isnan(result.measures["loss"] or 0.0)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"work": "a", "backend": "b"}', '{"work": 1, "backend": "b", "number": 1}']
)
def test_a_result_that_is_none_is_an_error_with_a_way_out(folder: Folder, cell: matrix.Cell, text: str) -> None:
    """It is not taken for a run."""
    folder.result(cell).write_text(text)

    with pytest.raises(BadDataError) as caught:
        folder.results([cell])

    assert caught.value.hint == "remove it: its cell is run again"


def test_a_run_that_is_not_over_has_no_result(folder: Folder, cell: matrix.Cell) -> None:
    """It is run again."""
    assert folder.results([cell]) == []


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_folder_whose_beginning_was_interrupted_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Ctrl-C before any of its folders is made: it is no other's folder."""
    made, make = [], Path.mkdir

    def interrupted(path: Path, *args: Any, **more: Any) -> None:
        made.append(path)
        if len(made) == at:
            raise KeyboardInterrupt
        make(path, *args, **more)

    planned = matrix.load(written(tmp_path, GOOD))
    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Folder(tmp_path / "out").begin(planned)

    Folder(tmp_path / "out").begin(planned)

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["bench.json", "cells", "runs"]
