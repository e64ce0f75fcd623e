"""The runs of a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dlprof.report import run_list
from dlprof.report.json_text import plain
from dlprof.report.run_list import DamagedRun, StoredRun
from tests.unit.runs import S, make, manifest


def test_a_run_is_told_by_its_manifest(tmp_path: Path) -> None:
    """`dlprof.runs/1`."""
    folder = make(tmp_path / "r").folder

    (row,) = plain(run_list.list_runs([folder]))["runs"]

    assert row.pop("size_bytes") == folder.size_bytes()
    assert row == {
        "run": "r",
        "created": "2026-11-21T10:00:00+00:00",
        "script": "train.py",
        "backend": "torch",
        "state": "finished",
        "exit_code": 0,
        "signal": None,
        "wall_ns": 10 * S,
        "engine": "torch",
    }


def test_a_run_without_keras_is_on_its_engine(tmp_path: Path) -> None:
    """As the first line of its report says."""
    alone = manifest(keras=None, backend={**manifest()["backend"], "name": None, "source": "python"})
    (row,) = run_list.list_runs([make(tmp_path / "r", alone).folder]).runs

    assert re.split(r" {2,}", run_list.as_line(row))[:3] == ["r", "torch", "train.py"]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ({"module": "package.train"}, "-m package.train"),
        ({"program": "julia"}, "julia"),
        ({}, None),
    ],
)
def test_what_was_run_is_a_script_a_module_a_program_or_nothing(
    tmp_path: Path, command: dict[str, Any], text: str | None
) -> None:
    """A run of foreign traces ran nothing."""
    (row,) = run_list.list_runs([make(tmp_path / "r", manifest(command=command)).folder]).runs

    assert isinstance(row, StoredRun)
    assert row.script == text


def test_a_damaged_run_is_listed_as_such(tmp_path: Path) -> None:
    """With what is wrong."""
    folder = make(tmp_path / "r").folder
    folder.manifest_path.write_text("{")

    (row,) = run_list.list_runs([folder]).runs

    assert isinstance(row, DamagedRun)
    assert run_list.as_line(row).startswith("r" + " " * 40 + "damaged: ")


@pytest.mark.parametrize(
    ("changes", "ended"),
    [
        ({"exit_code": 3}, "exit 3"),
        ({"signal": 9, "exit_code": None}, "killed"),
        ({"wall_ns": None, "state": "running"}, "running"),
    ],
)
def test_a_line_says_how_the_run_ended(changes: dict[str, Any], ended: str) -> None:
    """By code, by signal, or that it goes on."""
    fields: dict[str, Any] = {
        "run": "r", "created": "", "script": "train.py", "backend": None, "state": "finished", "exit_code": 0,
        "signal": None, "wall_ns": 10 * S, "size_bytes": 2000, **changes,
    }  # fmt: skip

    assert re.split(r" {2,}", run_list.as_line(StoredRun(**fields)))[:4] == ["r", "-", "train.py", ended]
