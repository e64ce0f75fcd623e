"""Tables as files of a folder, piece by piece."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from dlprof.export import csv_folder, tables
from tests.unit.export.run_of_everything import whole
from tests.unit.runs import make


def test_dictionaries_of_text_become_text() -> None:
    """So that every reader knows the types; all else stays."""
    names = pa.dictionary(pa.int32(), pa.string())
    plain = tables.plain(pa.schema([("a", names), ("b", pa.int64()), ("c", pa.list_(names))]))

    assert plain == pa.schema([("a", pa.string()), ("b", pa.int64()), ("c", pa.list_(pa.string()))])


def test_a_table_without_rows_has_no_file(tmp_path: Path) -> None:
    """The number of those that have is said; what columns mean lies beside."""
    written: list[str] = []
    run = make(tmp_path / "run", gc=[{"start_ns": 0, "dur_ns": 1, "generation": 0, "collected": 0}])

    said = tables.write_folder(
        run, tmp_path, ".x", lambda pieces, path: written.append(f"{path.name} {sum(p.num_rows for p in pieces)}")
    )

    assert (said, written) == ("1 tables", ["gc.x 1"])
    assert (tmp_path / "tables.txt").read_text() == tables.ABOUT


def test_files_of_another_run_do_not_stay(tmp_path: Path) -> None:
    """A table that this run does not have is not left from the run before."""
    folder = tmp_path / "out"
    folder.mkdir()
    csv_folder.write(whole(tmp_path / "one"), folder)
    (folder / "notes.csv").write_text("mine")

    csv_folder.write(make(tmp_path / "two"), folder)

    assert {path.name for path in folder.iterdir()} == {"tables.txt", "notes.csv"}
