"""Where an export is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError
from dlprof.export import writing
from tests.unit.runs import trained


def test_a_format_of_one_file_is_written_to_it(tmp_path: Path) -> None:
    """And not over another one."""
    run = trained(tmp_path / "r")

    writing.write(run, "speedscope", tmp_path / "out.json", force=False)

    assert (tmp_path / "out.json").is_file()
    with pytest.raises(CannotCreateError):
        writing.write(run, "speedscope", tmp_path / "out.json", force=False)


def test_a_folder_that_runs_share_has_one_of_each(tmp_path: Path) -> None:
    """So that TensorBoard shows them side by side."""
    for name in "ab":
        writing.write(trained(tmp_path / name), "tensorboard", tmp_path / "logs", force=False)

    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["a", "b"]
