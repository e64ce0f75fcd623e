"""What the seal of a folder of tables says."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.store import seal
from dlprof.store.seal import Seal
from dlprof.store.writer import write_tables
from tests.unit import runs


def test_a_seal_names_tables_and_what_they_were_made_of(tmp_path: Path) -> None:
    """Rows of each table, and sizes of artifacts; a table without rows is not there."""
    write_tables(tmp_path, {"phases": runs.table("phases", runs.phases(fit=1)), "gc": runs.table("gc", [])}, {"x": 5})

    found = seal.read(tmp_path)

    assert found is not None
    assert {name: table.rows for name, table in found.tables.items()} == {"phases": 1}
    assert found.made_of == {"x": 5}


def test_a_large_table_has_no_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To make one all of it would have to be read each time."""
    monkeypatch.setattr(seal, "CRC_BYTES_AT_MOST", 10)
    write_tables(tmp_path, {"phases": runs.table("phases", runs.phases(fit=1))})

    assert [table.crc32 for table in (seal.read(tmp_path) or Seal(0, {})).tables.values()] == [None]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "other/1", "schema_version": 1, "tables": {}}', "\0"])
def test_a_damaged_seal_is_none(tmp_path: Path, content: str) -> None:
    """As if the tables had never been finished."""
    (tmp_path / seal.NAME).write_text(content)

    assert seal.read(tmp_path) is None
