"""`dlprof exam`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.trials.exam import examine
from dlprof.trials.exam.result import Result
from tests.unit.runs import dlprof
from tests.unit.trials.exam.cases import GOOD, truth


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the examination was asked for, without running anything."""
    calls: list[Any] = []

    def stand_in(truths: Any, folder: Path, _report: Any, **how: Any) -> Result:
        calls.append(([one.name for one in truths], folder, how))
        return Result(())

    monkeypatch.setattr(examine, "examine", stand_in)
    return calls


def test_the_truth_files_of_a_folder_are_examined(
    tmp_path: Path, asked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """With the figures of the command line."""
    folder = truth(tmp_path, GOOD)

    assert dlprof("exam", folder, "-o", tmp_path / "out", "--pairs", "0", "--repeat", "0", "--format", "json") == 0

    ((names, out, how),) = asked
    assert (len(names), out) == (2, tmp_path / "out")
    assert how == {"pairs": 0, "repeats": 1, "restart": False}
    assert json.loads(capsys.readouterr().out)["schema"] == "dlprof.exam/1"


def test_one_backend_can_be_chosen(tmp_path: Path, asked: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    """And the result is a table then, too."""
    assert dlprof("exam", truth(tmp_path, GOOD), "--only", "jax") == 0

    assert len(asked[0][0]) == 1
    assert "|" in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, asked: list[Any]) -> None:
    """Nothing is run."""
    assert dlprof("exam", tmp_path / "none") == 66
    assert asked == []
