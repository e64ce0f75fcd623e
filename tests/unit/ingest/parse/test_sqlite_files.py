"""SQLite files of tracing tools."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.parse import sqlite_files
from dlprof.ingest.parse.sqlite_files import Database, holds_table


def _file(folder: Path) -> Path:
    path = folder / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE kernels (start, end); INSERT INTO kernels VALUES (1, 2);"
            "CREATE TABLE waits (timestamp); INSERT INTO waits VALUES (1), (2); CREATE TABLE none (start);"
            "CREATE TABLE names (id, value); INSERT INTO names VALUES (1, 'x');"
        )
    connection.close()
    return path


def test_tables_of_events_that_nobody_read_are_counted(tmp_path: Path) -> None:
    """Not those that were read, that are empty, or whose rows have no time."""
    with Database(_file(tmp_path)) as database:
        assert database.all("kernels", ("start", "end", "stream")) == [(1, 2, None)]
        assert database.unread_events() == [("waits", 2)]


def test_a_file_is_known_by_a_table_that_it_has(tmp_path: Path) -> None:
    """What is no SQLite file has none."""
    path = _file(tmp_path)

    assert holds_table(path, path.read_bytes()[:100], ("a", "kernels"))
    assert not holds_table(path, path.read_bytes()[:100], ("a",))
    assert not holds_table(path, b"{}", ("kernels",))


def test_a_damaged_file_is_an_error_of_readers(tmp_path: Path) -> None:
    """Not one of SQLite."""
    path = tmp_path / "t.sqlite"
    path.write_bytes(b"SQLite format 3\x00" + b"x" * 100)

    with pytest.raises(ArtifactError, match="no readable SQLite file"), Database(path):
        pass


def test_a_column_that_is_computed_reads_as_null(tmp_path: Path) -> None:
    """Some bytes of it may stand for gigabytes."""
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (x, start AS (hex(zeroblob(100000000))))")
        database.execute("INSERT INTO t (x) VALUES (1)")
    database.close()

    with Database(path) as found:
        assert found.all("t", ("x", "start")) == [(1, None)]


def test_a_query_that_takes_longer_than_a_table_of_its_size_can_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where pages form a circle."""
    monkeypatch.setattr(sqlite_files, "_STEPS_FOR_NOTHING", 10_000)
    monkeypatch.setattr(sqlite_files, "_STEPS_PER_BYTE", 0)
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (start)")
        database.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(100_000)])
    database.close()

    with Database(path) as found, pytest.raises(ArtifactError, match="it takes longer than a table of that size can"):
        list(found.rows("t", ("start",)))
