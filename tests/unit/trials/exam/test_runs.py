"""The runs of an exam, and its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import UsageError
from dlprof.trials.exam import examine, result, tables
from dlprof.trials.exam import runs as exam_runs


def test_two_exams_do_not_share_a_folder(tmp_path: Path) -> None:
    """Runs made beside one another would be slow, and be taken for good ones."""
    with exam_runs.alone(tmp_path), pytest.raises(UsageError, match="Another exam is at work"):
        examine.examine([], tmp_path, lambda _line: None)

    assert examine.examine([], tmp_path, lambda _line: None).answers == ()


def test_an_exam_says_how_steady_its_machine_was(tmp_path: Path) -> None:
    """Of twenty paces the second slowest is half as slow again as the third fastest."""
    paces = [100] * 10 + [120] * 7 + [150] * 3
    (tmp_path / "paces.txt").write_text("".join(f"{pace}\n" for pace in paces))

    spread = exam_runs.spread(tmp_path)

    assert spread == 0.5
    assert "The same work took up to 50 % longer" in tables.as_markdown(result.Result((), (), spread))
