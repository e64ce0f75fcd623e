"""SQLite files of tracing tools: what tables and columns there are is asked, because versions differ."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.limits import budget

_MAGIC = b"SQLite format 3\x00"
_ROWS = 20_000
_FETCHED = 500
_TEXT_BYTES = 32 << 20
"""Texts of the rows that are given at once."""
_VALUE_BYTES = 16 << 20
"""A longer text, blob or row is refused by SQLite itself."""
_STEPS = 10_000
"""Instructions of SQLite between two looks at how many there were."""
_STEPS_PER_BYTE, _STEPS_FOR_NOTHING = 50, 5_000_000
"""What a query may take: tables whose columns compute, or whose pages form circles, would take for ever."""
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
        self._steps = self._text = 0

    def __enter__(self) -> Self:
        try:
            self._connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
            self._bound(self._connection)
            # Names that are no texts stand in damaged schemas: nothing can be asked of such a table.
            asked = "SELECT name FROM sqlite_master WHERE type = 'table' AND typeof(name) = 'text'"
            names = [r[0] for r in self._connection.execute(asked)]
            for name in names:
                columns = self._connection.execute(f"PRAGMA table_info({_quoted(name)})")
                self.tables[name] = tuple(row[1] for row in columns)
        except (sqlite3.Error, ValueError) as error:
            self.__exit__()
            raise ArtifactError(f"no readable SQLite file: {_said(error)}", path=self.path, offset=0) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def _bound(self, connection: sqlite3.Connection) -> None:
        """Let no query take more time and memory than a file of this size can need."""
        size = self.path.stat().st_size
        most = (_STEPS_FOR_NOTHING + _STEPS_PER_BYTE * size) // _STEPS

        def looked() -> bool:
            self._steps += 1
            return self._steps > most

        connection.set_progress_handler(looked, _STEPS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_BYTES)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.text_factory = self._decoded

    def _decoded(self, data: bytes) -> str:
        self._text += len(data)
        return data.decode("utf-8", "replace")

    def _fetched(self, cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
        """The next rows, and not more than fit."""
        rows: list[tuple[Any, ...]] = []
        self._text = 0
        while len(rows) < _ROWS and self._text < _TEXT_BYTES and (more := cursor.fetchmany(_FETCHED)):
            rows += more
        return rows

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a table, many at a time; none if there is no such table."""
        known = self.tables.get(table)
        if known is None or self._connection is None:
            return
        self._read.add(table)
        wanted = ", ".join(_quoted(name) if name in known else f"NULL AS {_quoted(name)}" for name in columns)
        try:
            cursor = self._connection.execute(f"SELECT {wanted} FROM {_quoted(table)}")
            self._steps = 0
            while rows := self._fetched(cursor):
                budget().rows(len(rows))
                yield rows
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise ArtifactError(f"table {table}: {_said(error)}", path=self.path) from error

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
        except (sqlite3.Error, OverflowError) as error:
            raise ArtifactError(f"table {table}: {_said(error)}", path=self.path) from error

    def all(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """All rows of a small table.

        Raises:
            ArtifactError: The table is damaged, or not small.
        """
        found = []
        for rows in self.rows(table, columns):
            budget().hold_texts(2 * len(rows), self._text, f"rows of {table}")
            found += rows
        return found


def _said(error: Exception) -> str:
    """What went wrong, in one line: SQLite repeats what stands in the file."""
    text = " ".join(str(error).split())[:300]
    return "it takes longer than a table of that size can" if text == "interrupted" else text


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
