"""The condition of a folder of tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dlprof.schema.tables import SCHEMA_VERSION
from dlprof.store import condition, seal
from dlprof.store.condition import Condition, State
from dlprof.store.writer import write_tables
from tests.unit import runs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with the tables `phases` and `steps`."""
    tables = {"phases": runs.table("phases", runs.phases(fit=1)), "steps": runs.table("steps", runs.steps(5))}
    write_tables(tmp_path / "tables", tables)
    return tmp_path / "tables"


def test_tables_as_they_were_written_are_sound(folder: Path) -> None:
    """Of this schema."""
    found = condition.examine(folder)

    assert (found.state, found.version, found.damages) == (State.SOUND, SCHEMA_VERSION, ())


def test_no_folder_and_an_empty_one_are_absent_tables(tmp_path: Path) -> None:
    """As is one that holds something else."""
    (tmp_path / "notes.txt").touch()

    assert condition.examine(tmp_path / "none") == Condition(State.ABSENT)
    assert condition.examine(tmp_path) == Condition(State.ABSENT)


def test_each_damaged_table_is_named(folder: Path) -> None:
    """With what is wrong with it."""
    (folder / "phases.parquet").unlink()
    (folder / "steps.parquet").write_bytes(b"12345")
    size = (seal.read(folder) or seal.Seal(0, {})).tables["steps"].bytes

    found = condition.examine(folder)

    assert found.state == State.DAMAGED
    assert [str(damage) for damage in found.damages] == ["phases is gone", f"steps has 5 bytes instead of {size}"]


def test_without_a_seal_the_heads_of_tables_are_looked_at(folder: Path) -> None:
    """Whether they are all is not known then."""
    (folder / seal.NAME).unlink()
    assert condition.examine(folder).state == State.UNSEALED

    pq.write_table(pa.table({"phase": [1]}), folder / "phases.parquet")
    (folder / "steps.parquet").write_bytes(b"PAR1")
    found = condition.examine(folder)

    assert found.state == State.DAMAGED
    assert [damage.table for damage in found.damages] == ["phases", "steps"]
    assert found.damages[0].why == "has another type in column phase: int64"


def test_tables_of_a_newer_schema_are_told(folder: Path) -> None:
    """Sealed or not."""
    table = pq.read_table(folder / "phases.parquet").replace_schema_metadata({b"dlprof_schema_version": b"99"})
    pq.write_table(table, folder / "phases.parquet")
    (folder / seal.NAME).unlink()

    assert condition.examine(folder).state == State.NEWER
