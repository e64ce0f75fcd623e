"""Tables as CSV, Parquet and JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from dlprof.export import csv_folder, json_object, parquet_folder
from dlprof.report.json_text import plain
from dlprof.report.summary import summarise
from dlprof.schema.manifest import as_builtins
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run
from tests.unit.exports import HOSTILE, whole
from tests.unit.runs import make


def rows_of(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as source:
        return list(csv.DictReader(source))


def as_json(run: Run) -> Any:
    """The JSON object; what strict readers refuse is refused."""
    out = io.BytesIO()
    json_object.write(run, out)
    return json.loads(out.getvalue(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


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


def test_files_of_another_run_do_not_stay(folder: Path, tmp_path: Path) -> None:
    """A table that this run does not have is not left from the run before."""
    csv_folder.write(whole(tmp_path / "one"), folder)
    (folder / "notes.csv").write_text("mine")

    csv_folder.write(make(tmp_path / "two"), folder)

    assert {path.name for path in folder.iterdir()} == {"tables.txt", "notes.csv"}


def test_parquet_files_have_the_same_rows(folder: Path, tmp_path: Path) -> None:
    """With text in place of dictionaries, so that every reader knows their types."""
    run = whole(tmp_path / "run")

    parquet_folder.write(run, folder)

    for name in TABLES:
        if run.table(name).num_rows:
            found = pq.ParquetFile(folder / f"{name}.parquet").read()
            assert found.to_pylist() == run.rows(name)
            assert not [one for one in found.schema if str(one.type).startswith("dictionary")]


def test_duckdb_reads_the_parquet_files(folder: Path, tmp_path: Path) -> None:
    """With plain types."""
    parquet_folder.write(whole(tmp_path / "run"), folder)

    found = duckdb.execute(f"SELECT DISTINCT name FROM '{folder}/metrics.parquet' ORDER BY name").fetchall()

    assert found == [(HOSTILE,), ("loss",)]


def test_json_has_manifest_report_and_every_table(tmp_path: Path) -> None:
    """What `dlprof report --json` gives, and all rows."""
    run = whole(tmp_path / "run")

    found = as_json(run)

    assert found["schema"] == "dlprof.export/1"
    assert found["manifest"] == as_builtins(run.manifest)
    assert found["report"] == json.loads(json.dumps(plain(summarise(run))))
    assert set(found["tables"]) == set(TABLES)
    assert found["tables"]["stacks"] == run.rows("stacks")
    assert found["left_out"] == []


def test_json_says_what_it_leaves_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many rows, and where they can be had."""
    monkeypatch.setattr(json_object, "KERNEL_EVENTS_AT_MOST", 5)

    found = as_json(whole(tmp_path / "run"))

    assert "kernel_events" not in found["tables"]
    assert found["left_out"] == [
        {"table": "kernel_events", "rows": 6, "because": "more than 5 rows; dlprof export --to parquet has them"}
    ]


def test_json_has_no_numbers_that_json_does_not_know(tmp_path: Path) -> None:
    """A loss that is not a number is a text, not null: it was measured."""
    values = [float("nan"), float("inf"), float("-inf"), 1.5]
    metrics = [
        {"loop_id": 1, "epoch": n, "name": "loss", "value": value, "time_ns": 0} for n, value in enumerate(values)
    ]

    found = as_json(make(tmp_path / "run", metrics=metrics))

    assert [row["value"] for row in found["tables"]["metrics"]] == ["NaN", "Infinity", "-Infinity", 1.5]
