"""The tables of a run as Parquet files that any reader knows: text is text, not a dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof.export import tables
from dlprof.store.run import Run


def write(run: Run, folder: Path) -> str:
    """Write the files; see `dlprof.export.tables.write_folder`.

    Raises:
        CannotCreateError: The folder cannot be written to.
    """
    return tables.write_folder(run, folder, ".parquet", _write)


def _write(pieces: Iterator[pa.Table], path: Path) -> None:
    first = next(pieces)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as out:
        out.write_table(first)
        for piece in pieces:
            out.write_table(piece)
