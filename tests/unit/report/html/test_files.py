"""Where pages are written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError, UsageError
from dlprof.report.html import files
from tests.unit.runs import trained

PAGE = '<meta name="generator" content="dlprof 1">'


def test_a_page_is_written_with_the_folders_above_it(tmp_path: Path) -> None:
    """And over an older page."""
    path = tmp_path / "new" / "page.html"

    for text in (PAGE, PAGE + "again"):
        assert files.write(text, path) == path
        assert path.read_text() == text


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    """A name inside it is proposed."""
    with pytest.raises(UsageError, match="is a folder") as refused:
        files.write(PAGE, tmp_path)

    assert refused.value.hint == str(tmp_path / "report.html")


def test_a_file_of_the_users_is_not_replaced(tmp_path: Path) -> None:
    """It stays as it is."""
    (tmp_path / "notes.html").write_text("my notes")

    with pytest.raises(UsageError, match="is no page of dlprof"):
        files.write(PAGE, tmp_path / "notes.html")

    assert (tmp_path / "notes.html").read_text() == "my notes"


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    """A file stands in its place."""
    (tmp_path / "file").touch()

    with pytest.raises(CannotCreateError):
        files.write(PAGE, tmp_path / "file" / "page.html")


def test_the_page_of_a_run_lies_in_its_folder(tmp_path: Path) -> None:
    """Unless that may not be written to."""
    folder = trained(tmp_path / "r").folder.path

    assert files.write_beside(PAGE, [str(folder)], "report.html") == folder / "report.html"


def test_a_run_that_may_not_be_written_to_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page goes into a folder for temporary files; so does that of two runs."""
    folder = trained(tmp_path / "r").folder.path
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    for names in ([str(folder)], ["a", "b"]):
        path = files.write_beside(PAGE, names, "report.html")
        assert (path.name, path.parent.parent) == ("report.html", tmp_path)
    assert not (folder / "report.html").exists()
