"""`dlprof view`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.unit import ranked_runs
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


def test_a_run_of_ranks_has_a_page_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below `view` and `report --html`; two of them are compared."""
    for name in "ab":
        ranked_runs.make(tmp_path / name, {0: 5, 1: 12})
    assert dlprof("view", tmp_path / "a", "--no-open", "--ranks", "1") == 0
    assert "Timelines of rank 1<" in (tmp_path / "a" / "report.html").read_text()
    assert dlprof("report", tmp_path / "b", "--html", tmp_path / "b.html") == 0
    assert "Timelines of ranks 0, 1<" in (tmp_path / "b.html").read_text()
    assert dlprof("view", tmp_path / "a", tmp_path / "b", "--no-open", "-o", tmp_path / "gap.html") == 0
    assert "<title>a against b" in (tmp_path / "gap.html").read_text()
    capsys.readouterr()


def test_ranks_that_there_are_not_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By what there is; and where there are none at all."""
    ranked_runs.make(tmp_path / "a", {0: 5, 1: 12})
    trained(tmp_path / "r")
    assert dlprof("view", tmp_path / "a", "--no-open", "--ranks", "0,7") == 64
    assert "has no rank 7" in capsys.readouterr().err
    assert dlprof("view", tmp_path / "r", "--no-open", "--ranks", "0") == 64
    assert "is one run" in capsys.readouterr().err
