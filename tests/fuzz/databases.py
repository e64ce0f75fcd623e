"""Damages databases of SQLite by SQL, so that what is damaged is what the tables hold, or what they are."""

from __future__ import annotations

import random
import sqlite3
from typing import Any

_VALUES: tuple[Any, ...] = (
    None, 0, 1, -1, 2**15, 2**31, 2**40, 2**53, 2**62, 2**63 - 1, -(2**63), 0.5, 1e300, "", "a", "1", "\x1b[31m", "x" * 5000,
    b"", b"\xff\xfe", b"\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00",
)  # fmt: skip


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The database with one change; the bytes as they are where it cannot be opened any more."""
    database = sqlite3.connect(":memory:")
    try:
        database.deserialize(content)
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        _change(database, rng.choice(tables), tables, rng)
        database.commit()
        return database.serialize()
    except (sqlite3.Error, OverflowError, IndexError, UnicodeDecodeError, MemoryError):
        return content
    finally:
        database.close()


def _change(database: sqlite3.Connection, table: str, tables: list[str], rng: random.Random) -> None:
    columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
    column = rng.choice(columns)
    row = f'(SELECT rowid FROM "{table}" LIMIT 1 OFFSET {rng.randrange(4)})'
    how = rng.randrange(10)
    if how < 5:
        where = f"WHERE rowid = {row}" if rng.random() < 0.8 else ""
        database.execute(f'UPDATE "{table}" SET "{column}" = ? {where}', (rng.choice(_VALUES),))
    elif how == 5:
        database.execute(f'DELETE FROM "{table}" WHERE rowid = {row}')
    elif how == 6:
        database.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}"')
    elif how == 7:
        database.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
    elif how == 8:
        database.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{rng.choice(("start", "x", "id"))}"')
    else:
        _reshape(database, table, column, rng)


def _reshape(database: sqlite3.Connection, table: str, column: str, rng: random.Random) -> None:
    """Tables that are not there, are views, or compute what they hold."""
    how = rng.randrange(3)
    if how == 0:
        database.execute(f'DROP TABLE "{table}"')
    elif how == 1:
        database.execute(f'ALTER TABLE "{table}" RENAME TO "{table}_x"')
        database.execute(f'CREATE VIEW "{table}" AS SELECT * FROM "{table}_x"')
    else:
        database.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
        made = rng.choice(("zeroblob(1000000000)", "hex(zeroblob(3000000))", "1/0", "9223372036854775807", "'é'"))
        database.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" AS ({made})')
