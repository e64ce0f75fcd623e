"""The tables of a run while they are made."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof.ingest.artifact import Health
from dlprof.pipeline.run_tables import RunTables


def test_what_went_wrong_is_a_table_too(tmp_path: Path) -> None:
    """What was known before comes first."""
    tables = RunTables([Health("a", "info", "Said before.")])
    tables.health.append(Health("b", "error", "Said now.", 3))

    tables.write(tmp_path / "tables")

    rows = pq.read_table(tmp_path / "tables" / "health.parquet").to_pylist()
    assert [(row["slug"], row["severity"], row["message"], row["count"]) for row in rows] == [
        ("a", "info", "Said before.", None),
        ("b", "error", "Said now.", 3),
    ]


def test_rows_of_a_second_file_stand_behind_those_of_the_first() -> None:
    """With their own words in the dictionary of a column of texts."""
    tables = RunTables()
    for word in ("one", "two"):
        tables.append("frames", pa.table({"function": pa.array([word]).dictionary_encode()}))

    table = tables.get("frames")

    assert table is not None
    assert table["function"].to_pylist() == ["one", "two"]
    assert tables.get("stacks") is None
