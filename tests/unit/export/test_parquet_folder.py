"""Tables as Parquet."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from dlprof.export import parquet_folder
from dlprof.schema.tables import TABLES
from tests.unit.export.run_of_everything import HOSTILE, whole


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to write to."""
    path = tmp_path / "out"
    path.mkdir()
    return path


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
