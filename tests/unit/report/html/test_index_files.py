"""Where the page over a folder's runs is written, and what it links to."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.report.html import index_files
from tests.unit.report.html.pages import Elements
from tests.unit.runs import dlprof, make, trained


def links(page: Path) -> list[str | None]:
    """Addresses of other pages."""
    found = [attrs["href"] for tag, attrs in Elements(page.read_text()).found if tag == "a"]
    return [link for link in found if link and not link.startswith("#")]


def test_a_folder_of_runs_is_viewed_as_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is written into the folder; a run whose page is there is a link."""
    trained(tmp_path / "runs" / "a")
    (trained(tmp_path / "runs" / "b").folder.path / "report.html").write_text("x")

    assert dlprof("view", tmp_path / "runs", "--no-open") == 0

    path = tmp_path / "runs" / "index.html"
    assert capsys.readouterr().out == f"{path}\n"
    assert links(path) == ["b/report.html"]


def test_runs_writes_the_page_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its links lead from there."""
    (trained(tmp_path / "runs" / "a").folder.path / "report.html").write_text("x")

    assert dlprof("runs", tmp_path / "runs", "--html", tmp_path / "out" / "all.html") == 0

    assert links(tmp_path / "out" / "all.html") == ["../runs/a/report.html"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No page is written."""
    assert dlprof("runs", tmp_path / "none", "--html", tmp_path / "x.html") == 66
    assert "There is no folder" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


def test_a_run_is_no_folder_of_runs(tmp_path: Path) -> None:
    """Nor is a folder without any."""
    make(tmp_path / "runs" / "a")
    (tmp_path / "empty").mkdir()
    assert [index_files.is_folder(str(tmp_path / name)) for name in ("runs", "runs/a", "empty", "none")] == [
        True,
        False,
        False,
        False,
    ]


def test_served_runs_are_made_by_their_names(tmp_path: Path) -> None:
    """Only when they are asked for."""
    make(tmp_path / "a")

    page, below = index_files.served(tmp_path, lambda name: f"the page of {name}")

    assert 'href="run/a/"' in page
    assert {link: made() for link, made in below.items()} == {"run/a/": f"the page of {tmp_path}/a"}
