"""A stored run, read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dlprof.errors import BadDataError
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run
from dlprof.store.writer import RowWriter
from tests.unit.runs import trained


def test_a_table_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """With the way out."""
    run = trained(tmp_path / "r")
    newer = TABLES["gpu"].empty_table().replace_schema_metadata({"dlprof_schema_version": "99"})
    pq.write_table(newer, run.folder.tables / "gpu.parquet")

    with pytest.raises(BadDataError, match="newer dlprof"):
        run.table("gpu")


def test_a_small_table_is_read_once(tmp_path: Path) -> None:
    """Whatever part of it is asked for first; a large one is read anew, column by column."""
    run = trained(tmp_path / "r", phases=[{"phase": "fit", "parent": None, "dur_ns": 7, "count": 1}])
    run = Run(run.folder, run.manifest)
    assert run.table("phases", ["dur_ns"]).to_pylist() == [{"dur_ns": 7}]
    (run.folder.tables / "phases.parquet").unlink()

    assert [piece.to_pylist() for piece in run.pieces("phases", ["phase"])] == [[{"phase": "fit"}]]


def test_to_count_the_rows_of_a_large_table_one_column_of_it_is_read(tmp_path: Path) -> None:
    """Nor is it kept."""
    run = trained(tmp_path / "r", phases=[{"phase": "fit", "parent": None, "dur_ns": 1, "count": 1}] * 5000)
    run = Run(run.folder, run.manifest)

    assert run.row_count("phases") == 5000
    (run.folder.tables / "phases.parquet").unlink()
    assert run.row_count("phases") == 0


def test_a_table_that_was_written_in_pieces_can_be_grouped_by_its_texts(tmp_path: Path) -> None:
    """Though each piece has its own numbers for them."""
    run = trained(tmp_path / "r")
    rows = RowWriter(run.folder.tables, "phases")
    for names in (("fit", "import"), ("import", "script")):
        told = [{"phase": name, "parent": None, "dur_ns": 1, "count": 1} for name in names]
        rows.write(pa.Table.from_pylist(told, schema=TABLES["phases"]))
    rows.close()

    table = Run(run.folder, run.manifest).table("phases")

    assert sorted(table.group_by("phase").aggregate([("count", "sum")]).to_pylist(), key=lambda row: row["phase"]) == [
        {"phase": "fit", "count_sum": 1},
        {"phase": "import", "count_sum": 2},
        {"phase": "script", "count_sum": 1},
    ]


def test_without_proc_tables_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no name for an open file then."""
    run = trained(tmp_path / "r", phases=[{"phase": "fit", "parent": None, "dur_ns": 7, "count": 1}])
    monkeypatch.setattr("dlprof.store.run._DESCRIPTORS", None)

    assert Run(run.folder, run.manifest).table("phases", ["dur_ns"]).to_pylist() == [{"dur_ns": 7}]
