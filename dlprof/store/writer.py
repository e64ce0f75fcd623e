"""Writes the tables of a run as Parquet files."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof import safe_files
from dlprof.rundir import writing_into
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.store import quiet_arrow, seal

quiet_arrow.settle()
_HOW: Mapping[str, Any] = {"compression": "zstd", "write_page_checksum": True}
_WORTH_PACKING = 1 << 16
"""Bytes of a table from which on it is packed: of few rows, to begin with each column takes longer than to write it."""


def write_tables(folder: Path, tables: Mapping[str, pa.Table], made_of: Mapping[str, int] | None = None) -> None:
    """Write each table to `folder/NAME.parquet`, empty ones not, and seal all that are there.

    Args:
        folder: Folder of the tables; made if it is not there.
        tables: By their names.
        made_of: Raw artifacts that they were made of, to their sizes (bytes).

    Raises:
        CannotCreateError: The folder cannot be written to.
        KeyError: A table that the schema does not know.
    """
    with writing_into(folder):
        folder.mkdir(exist_ok=True)
        for name, table in tables.items():
            if table.num_rows:
                _write(folder / f"{name}.parquet", table.cast(TABLES[name]))
    seal.write(folder, made_of)


class _Dropped(Exception):  # noqa: N818  (no error: it has the file taken away)
    """What was written is not wanted."""


class RowWriter:
    """Writes a table piece by piece, as a whole file or not at all.

    Args:
        folder: Folder of the tables; made if it is not there.
        name: Name of the table.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._schema = _versioned(TABLES[name])
        self._path = folder / f"{name}.parquet"
        self._held = contextlib.ExitStack()
        self._writer: pq.ParquetWriter | None = None

    def write(self, rows: pa.Table) -> None:
        """Add rows.

        Raises:
            CannotCreateError: The folder cannot be written to.
        """
        if rows.num_rows:
            with writing_into(self._path.parent):
                if self._writer is None:
                    self._path.parent.mkdir(exist_ok=True)
                    out = self._held.enter_context(safe_files.new_file(self._path))
                    self._writer = pq.ParquetWriter(out, self._schema, **_HOW)
                self._writer.write_table(rows.cast(self._schema))

    def close(self) -> None:
        """No more rows: the file gets its name."""
        if self._writer is not None:
            with writing_into(self._path.parent):
                self._writer.close()
                self._held.close()

    def drop(self) -> None:
        """Leave nothing of what was written."""
        if self._writer is not None:
            with contextlib.suppress(_Dropped), self._held:
                raise _Dropped
            self._writer = None


def _versioned(schema: pa.Schema) -> pa.Schema:
    return schema.with_metadata({**(schema.metadata or {}), b"dlprof_schema_version": str(SCHEMA_VERSION).encode()})


def _write(path: Path, table: pa.Table) -> None:
    metadata = {**(table.schema.metadata or {}), b"dlprof_schema_version": str(SCHEMA_VERSION).encode()}
    with safe_files.new_file(path) as out:
        how = _HOW if table.nbytes >= _WORTH_PACKING else {**_HOW, "compression": "none"}
        pq.write_table(table.replace_schema_metadata(metadata), out, **how)
