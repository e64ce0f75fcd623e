"""`dlprof view`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.unit.runs import dlprof, trained


def test_view_writes_into_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing else is said."""
    trained(tmp_path / "r")
    assert dlprof("view", tmp_path / "r", "--no-open") == 0
    assert capsys.readouterr().out == f"{tmp_path}/r/report.html\n"


def test_view_writes_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comparison of two."""
    for name in "ab":
        trained(tmp_path / name)

    assert dlprof("view", tmp_path / "a", tmp_path / "b", "--no-open", "-o", tmp_path / "p.html") == 0

    assert capsys.readouterr().out == f"{tmp_path}/p.html\n"
    assert "<title>a against b" in (tmp_path / "p.html").read_text()


def test_a_comparison_is_written_beside_neither_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But into a folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    for name in "ab":
        trained(tmp_path / name)

    assert dlprof("view", tmp_path / "a", tmp_path / "b", "--no-open") == 0
    assert [path.name for path in (tmp_path / "temporary").rglob("*.html")] == ["comparison.html"]


def test_view_opens_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or says that there is none."""
    trained(tmp_path / "r")
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)

    assert dlprof("view", tmp_path / "r") == 0

    assert opened == [(tmp_path / "r" / "report.html").resolve().as_uri()]
    assert "no browser could be opened" in capsys.readouterr().err


def test_view_serves_until_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the address that is printed; the browser is led there by a file, as others may see its command line."""
    trained(tmp_path / "r")
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(Path(urlsplit(url).path).read_text()))

    def interrupt(_self: object, poll_interval: float) -> None:
        assert poll_interval > 0
        raise KeyboardInterrupt

    monkeypatch.setattr("http.server.ThreadingHTTPServer.serve_forever", interrupt)

    assert dlprof("view", tmp_path / "r", "--serve") == 0
    (address,) = capsys.readouterr().out.split()
    assert f"url={address}" in opened[0]


def test_three_runs_are_too_many_for_a_page() -> None:
    """Exit code 64."""
    assert dlprof("view", "a", "b", "c") == 64


def test_a_run_that_cannot_be_diagnosed_has_a_page_all_the_same(tmp_path: Path) -> None:
    """Which says why not."""
    trained(tmp_path / "r", phases=[], phase_intervals=[])

    assert dlprof("view", tmp_path / "r", "--no-open", "-o", tmp_path / "p.html") == 0
    assert "Not diagnosed, because" in (tmp_path / "p.html").read_text()
