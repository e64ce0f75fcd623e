"""The seal of a folder of tables: which there are and how they are, written last; without it they may not be all."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import field

from dlprof import safe_files
from dlprof.rundir import replace_text, writing_into
from dlprof.schema.tables import SCHEMA_VERSION

FORMAT = "dlprof.tables/1"
NAME = "tables.json"
SEAL_BYTES_AT_MOST = 16 << 20
CRC_BYTES_AT_MOST = 4 << 20
"""A table that is larger is checked page by page, when it is read: opening a run must not read all of it."""


class SealedTable(msgspec.Struct, frozen=True):
    """A table as it was written."""

    rows: int
    bytes: int
    crc32: int | None = None
    """Of the file; None: it is large."""


class Seal(msgspec.Struct, frozen=True):
    """All tables of a run, and what they were made of."""

    schema_version: int
    tables: Mapping[str, SealedTable]
    made_of: Mapping[str, int] = field(default_factory=dict)
    """Raw artifacts by their names below `raw/`, to their sizes (bytes); none for a run of foreign traces."""
    format: str = FORMAT


def write(folder: Path, made_of: Mapping[str, int] | None = None) -> None:
    """Seal the tables that are in a folder.

    Args:
        folder: The folder of the tables.
        made_of: Raw artifacts that they were made of, to their sizes (bytes).

    Raises:
        CannotCreateError: It cannot be written to.
    """
    with writing_into(folder):
        tables = {path.stem: _sealed(path) for path in sorted(folder.glob("*.parquet"))}
        text = msgspec.json.encode(Seal(SCHEMA_VERSION, tables, made_of or {})).decode()
        replace_text(folder / NAME, text)


def _sealed(path: Path) -> SealedTable:
    size = path.lstat().st_size
    return SealedTable(pq.read_metadata(path).num_rows, size, crc32(path, size))


def crc32(path: Path, size: int) -> int | None:
    """The checksum of a file of so many bytes; None: it is too large for that."""
    return zlib.crc32(safe_files.read_path(path, CRC_BYTES_AT_MOST)) if size <= CRC_BYTES_AT_MOST else None


def is_as_sealed(path: Path, sealed: SealedTable) -> bool:
    """Whether a table that was made again is the one that was sealed, by all that the seal says of it."""
    try:
        return _sealed(path) == sealed
    except (OSError, ValueError, pa.ArrowException):
        return False


def read(folder: Path) -> Seal | None:
    """The seal of a folder; None: there is none, or it is damaged."""
    with contextlib.suppress(OSError, ValueError, msgspec.DecodeError):
        seal = msgspec.json.decode(safe_files.read_path(folder / NAME, SEAL_BYTES_AT_MOST), type=Seal)
        return seal if seal.format == FORMAT else None
    return None
