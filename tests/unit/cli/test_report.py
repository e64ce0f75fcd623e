"""`dlprof report`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.runs import dlprof, trained


def test_report_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says where it is."""
    trained(tmp_path / "r")
    assert dlprof("report", tmp_path / "r", "--html", tmp_path / "new" / "page.html") == 0
    assert capsys.readouterr().out == f"{tmp_path}/new/page.html\n"
    assert (tmp_path / "new" / "page.html").read_text().startswith("<!doctype html>")


def test_a_page_is_written_over_a_page_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of the user's stays as it is."""
    trained(tmp_path / "r")
    target = tmp_path / "page.html"
    assert dlprof("report", tmp_path / "r", "--html", target) == 0
    assert dlprof("report", tmp_path / "r", "--html", target) == 0
    target.write_text("my notes")
    assert dlprof("report", tmp_path / "r", "--html", target) == 64
    assert "is no page of dlprof" in capsys.readouterr().err
    assert target.read_text() == "my notes"
