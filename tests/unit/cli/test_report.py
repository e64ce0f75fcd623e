"""`dlprof report`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.runs import S, dlprof, trained


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


def test_report_prints_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing else is asked for."""
    trained(tmp_path / "r")

    assert dlprof("report", tmp_path / "r", "--plain") == 0
    assert "fit 6.00 s (60.0 %)" in capsys.readouterr().out


def test_report_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With as many lines as asked for."""
    rows = [
        {"file": "a.py", "function": "f", "first_line": 1, "line": n, "hits": 1, "time_ns": n * S, "source": "x"}
        for n in (1, 2, 3)
    ]
    trained(tmp_path / "r", lines=rows)

    assert dlprof("report", tmp_path / "r", "--json", "--top", "2") == 0

    content = json.loads(capsys.readouterr().out)
    assert (content["schema"], [line["line"] for line in content["lines"]]) == ("dlprof.report/1", [3, 2])


def test_a_run_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Exit code 66."""
    assert dlprof("report", tmp_path / "none") == 66
