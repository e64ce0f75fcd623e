"""Runs that are made of traces of other profilers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError, NoInputError, UsageError
from dlprof.pipeline import importing
from tests.unit.ingest.imports import DATA, imported


def test_a_format_can_be_forced_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    """With those there are."""
    with pytest.raises(UsageError, match="There is no format zz"):
        importing.import_files([DATA / "hta_rank0.json.gz"], tmp_path / "run", reader="zz", report=print)
    run = importing.import_files(
        [DATA / "hta_a100_triton.json.gz"], tmp_path / "run", reader="chrome", report=lambda _line: None
    )
    assert run.rows("sources")[0]["format"] == "chrome"


def test_an_output_folder_with_something_in_it_is_not_touched(tmp_path: Path) -> None:
    """Before any file is read."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("x")

    with pytest.raises(CannotCreateError, match="exists and is not empty"):
        imported(tmp_path, DATA / "hta_a100_triton.json.gz")
    with pytest.raises(NoInputError):
        importing.import_files([tmp_path / "none.json"], tmp_path / "other", reader=None, report=print)
