"""`dlprof lines`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runs import MS, dlprof, trained


def line(file: str, function: str, number: int, ms: int) -> dict[str, Any]:
    """A row of `lines`."""
    return {
        "file": file,
        "function": function,
        "first_line": number,
        "line": number,
        "hits": 1,
        "time_ns": ms * MS,
        "source": "x",
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three functions in two files."""
    rows = [line("train.py", "main", 9, 30), line("train.py", "build_net", 1, 20), line("nets/mlp.py", "build", 1, 50)]
    return trained(tmp_path / "r", lines=rows).folder.path


@pytest.mark.parametrize(
    ("flags", "functions"),
    [
        ([], ["build", "main", "build_net"]),
        (["--sort", "line"], ["build", "build_net", "main"]),
        (["--function", "build*"], ["build", "build_net"]),
        (["--file", "nets/*"], ["build"]),
    ],
)
def test_functions_are_chosen_and_ordered(
    run: Path, flags: list[str], functions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """By time, or by place; by name, or by file."""
    assert dlprof("lines", run, "--json", *flags) == 0

    assert [row["function"] for row in json.loads(capsys.readouterr().out)] == functions


def test_without_json_it_is_a_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One a function."""
    assert dlprof("lines", run) == 0

    assert capsys.readouterr().out.count("Line #") == 3
