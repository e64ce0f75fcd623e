"""Writes the tables of a run as Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof.rundir import writing_into
from dlprof.schema.tables import SCHEMA_VERSION, TABLES


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write each table to `folder/NAME.parquet`, whole or not at all; empty tables are not written.

    Raises:
        CannotCreateError: The folder cannot be written to.
        KeyError: A table that the schema does not know.
    """
    with writing_into(folder):
        folder.mkdir(exist_ok=True)
        for name, table in tables.items():
            if table.num_rows:
                _write(folder / f"{name}.parquet", table.cast(TABLES[name]))


def _write(path: Path, table: pa.Table) -> None:
    part = path.with_name(path.name + ".part")
    metadata = {**(table.schema.metadata or {}), b"dlprof_schema_version": str(SCHEMA_VERSION).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), part, compression="zstd")
    part.replace(path)
