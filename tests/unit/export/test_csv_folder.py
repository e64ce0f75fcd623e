"""Tables as CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from dlprof.export import csv_folder
from dlprof.schema.tables import TABLES
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.runs import make


def rows_of(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as source:
        return list(csv.DictReader(source))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to write to."""
    path = tmp_path / "out"
    path.mkdir()
    return path


def test_every_table_with_rows_is_a_csv_file(folder: Path, tmp_path: Path) -> None:
    """And there is none for the others."""
    run = whole(tmp_path / "run")

    csv_folder.write(run, folder)

    assert {path.stem for path in folder.glob("*.csv")} == {name for name in TABLES if run.table(name).num_rows}
    assert [row["dur_ns"] for row in rows_of(folder / "kernel_events.csv")] == [
        "100",
        "100",
        "100",
        "0",
        "1000",
        "1000",
    ]


def test_what_was_not_measured_is_an_empty_cell(folder: Path, tmp_path: Path) -> None:
    """Never 0."""
    csv_folder.write(whole(tmp_path / "run"), folder)

    assert [row["busy_pct"] for row in rows_of(folder / "cores.csv")] == ["50", "", "25.5"]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_texts_that_a_spreadsheet_would_compute_get_an_apostrophe(name: str, folder: Path, tmp_path: Path) -> None:
    """Numbers below zero do not."""
    metric = {"loop_id": 1, "epoch": 0, "name": name, "value": -0.5, "time_ns": -7}

    csv_folder.write(make(tmp_path / "run", metrics=[metric]), folder)

    (row,) = rows_of(folder / "metrics.csv")
    assert (row["name"], row["value"], row["time_ns"]) == (f"'{name}", "-0.5", "-7")


def test_other_texts_are_left_as_they_are(folder: Path, tmp_path: Path) -> None:
    """With quotes, line breaks and formulas in the middle."""
    metric = {"loop_id": 1, "epoch": 0, "name": f'a,"b"\n=c {HOSTILE}', "value": 1.0, "time_ns": 0}

    csv_folder.write(make(tmp_path / "run", metrics=[metric]), folder)

    assert rows_of(folder / "metrics.csv")[0]["name"] == f'a,"b"\n=c {HOSTILE}'


def test_lists_are_json(folder: Path, tmp_path: Path) -> None:
    """CSV has none; one that is not known is an empty cell, other than an empty one."""
    layers: list[dict[str, Any]] = [
        {"layer": "dense", "inputs": ["?x784", '"é"'], "weights": []},
        {"layer": "relu", "inputs": None, "weights": None},
    ]

    csv_folder.write(make(tmp_path / "run", layers=layers), folder)

    assert [(row["inputs"], row["weights"]) for row in rows_of(folder / "layers.csv")] == [
        ('["?x784", "\\"é\\""]', "[]"),
        ("", ""),
    ]
