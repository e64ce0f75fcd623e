"""Runs that are made of traces of other profilers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError, NoInputError, UsageError
from dlprof.ingest.artifact import ArtifactError
from dlprof.pipeline import importing
from tests.unit.ingest.imports import DATA, imported


def test_a_format_can_be_forced_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    """With those there are."""
    with pytest.raises(UsageError, match="There is no format zz"):
        importing.import_files([DATA / "hta_rank0.json.gz"], tmp_path / "run", reader="zz", report=print)
    run = importing.import_files(
        [DATA / "hta_a100_triton.json.gz"], tmp_path / "run", reader="chrome", report=lambda _line: None
    )
    assert run.rows("sources")[0]["format"] == "chrome"


def test_an_output_folder_with_something_in_it_is_not_touched(tmp_path: Path) -> None:
    """Before any file is read."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("x")

    with pytest.raises(CannotCreateError, match="exists and is not empty"):
        imported(tmp_path, DATA / "hta_a100_triton.json.gz")
    with pytest.raises(NoInputError):
        importing.import_files([tmp_path / "none.json"], tmp_path / "other", reader=None, report=print)


def test_a_file_whose_events_are_all_of_no_use_is_refused_with_what_was_in_it(tmp_path: Path) -> None:
    """No run folder is left."""
    path = tmp_path / "t.json"
    path.write_text('[{"ph": "C", "name": "memory", "ts": 1, "args": {}}, {"ph": "i", "name": "mark", "ts": 2}]')

    with pytest.raises(ArtifactError) as refused:
        imported(tmp_path, path)

    assert str(refused.value) == (
        "t.json: nothing in it could be read as chrome: "
        "1 values of counters (there is no table for them); 1 instants (they have no duration)"
    )
    assert not (tmp_path / "run").exists()


def test_what_was_passed_over_is_stored_and_told_in_health(tmp_path: Path) -> None:
    """File by file, most first."""
    path = tmp_path / "t.json"
    path.write_text('[{"ph": "X", "name": "a", "ts": 1, "dur": 1}, {"ph": "i", "name": "mark", "ts": 2}]')
    run = imported(tmp_path, path)

    assert run.rows("skipped") == [
        {"source": "t.json", "what": "instants", "events": 1, "why": "they have no duration"}
    ]
    assert run.rows("health")[0]["message"] == "1 events of t.json were not read: instants: they have no duration."


def test_a_file_whose_events_all_have_impossible_times_is_refused(tmp_path: Path) -> None:
    """With how many they were; no run folder is left."""
    path = tmp_path / "t.json"
    path.write_text('[{"ph": "X", "name": "a", "ts": 9e18, "dur": 1}, {"ph": "X", "name": "b", "ts": 9e18, "dur": 1}]')

    with pytest.raises(ArtifactError) as refused:
        imported(tmp_path, path)

    assert str(refused.value) == (
        "t.json: nothing in it could be read as chrome: 2 events of t.json are malformed and were passed over."
    )
    assert not (tmp_path / "run").exists()


def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    """By whatever name; its work would be counted twice."""
    path, other = tmp_path / "t.json", tmp_path / "again.json"
    path.write_text('[{"ph": "X", "name": "a", "ts": 1, "dur": 1}]')
    other.symlink_to(path)
    said: list[str] = []

    run = importing.import_files([path, other, path], tmp_path / "run", reader=None, report=said.append)

    assert [row["file"] for row in run.rows("sources")] == ["t.json"]
    assert said[:2] == [
        f"{name}: not taken again: it is t.json, which was given before" for name in ("again.json", "t.json")
    ]
