"""SQLite files of tracing tools: what tables and columns there are is asked, because versions differ."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from dlprof.ingest.artifact import ArtifactError

_MAGIC = b"SQLite format 3\x00"
_ROWS = 200_000
_TIMES = ("start", "timestamp")
"""Columns that tables of events have."""


def holds_table(path: Path, head: bytes, names: Sequence[str] | re.Pattern[str]) -> bool:
    """Whether a file, of which these are the first bytes, is of SQLite and has one of these tables."""
    if not head.startswith(_MAGIC):
        return False
    try:
        with Database(path) as database:
            if isinstance(names, re.Pattern):
                return any(names.match(table) for table in database.tables)
            return any(name in database.tables for name in names)
    except ArtifactError:
        return False


class Database:
    """An SQLite file, opened for reading only; a column that a version lacks reads as null."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables: dict[str, tuple[str, ...]] = {}
        self._connection: sqlite3.Connection | None = None
        self._read: set[str] = set()

    def __enter__(self) -> Self:
        try:
            self._connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
            self._connection.text_factory = lambda data: data.decode("utf-8", "replace")
            names = [r[0] for r in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for name in names:
                columns = self._connection.execute(f"PRAGMA table_info({_quoted(name)})")
                self.tables[name] = tuple(row[1] for row in columns)
        except (sqlite3.Error, ValueError) as error:
            self.__exit__()
            raise ArtifactError(f"no readable SQLite file: {error}", path=self.path, offset=0) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a table, many at a time; none if there is no such table."""
        known = self.tables.get(table)
        if known is None or self._connection is None:
            return
        self._read.add(table)
        wanted = ", ".join(_quoted(name) if name in known else f"NULL AS {_quoted(name)}" for name in columns)
        try:
            cursor = self._connection.execute(f"SELECT {wanted} FROM {_quoted(table)}")
            while rows := cursor.fetchmany(_ROWS):
                yield rows
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise ArtifactError(f"table {table}: {error}", path=self.path) from error

    def unread_events(self) -> list[tuple[str, int]]:
        """Tables of events that nobody asked for, and how many rows each has."""
        found = []
        for table, columns in self.tables.items():
            if table not in self._read and any(name in _TIMES for name in columns):
                found.append((table, self._count(table)))
        return [(table, count) for table, count in found if count]

    def _count(self, table: str) -> int:
        assert self._connection is not None  # noqa: S101  (it is open while it is read)
        try:
            return int(self._connection.execute(f"SELECT COUNT(*) FROM {_quoted(table)}").fetchone()[0])
        except sqlite3.Error as error:
            raise ArtifactError(f"table {table}: {error}", path=self.path) from error

    def all(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """All rows of a small table."""
        return [row for rows in self.rows(table, columns) for row in rows]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
