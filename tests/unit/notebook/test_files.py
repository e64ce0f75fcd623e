"""Lists of runs, pages, exports and milliseconds, for notebooks and scripts."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

import dlprof
from dlprof.errors import CannotCreateError, NoInputError, UsageError
from dlprof.notebook.views import RunView
from tests.unit import runs


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that a browser would have been opened with."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def test_runs_are_a_frame_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged one says why."""
    runs.trained(tmp_path / "dlprof_runs" / "one")
    (tmp_path / "dlprof_runs" / "two").mkdir()
    (tmp_path / "dlprof_runs" / "two" / "manifest.json").write_text("{")
    monkeypatch.chdir(tmp_path)

    frame = dlprof.runs()

    assert list(frame.index) == ["one", "two"]
    assert (frame.loc["one", "wall_ns"], frame.loc["one", "backend"]) == (10 * runs.S, "torch")
    assert "cannot be read" in frame.loc["two", "damaged"]


def test_a_folder_without_runs_is_an_empty_frame(tmp_path: Path) -> None:
    """With the same columns."""
    frame = dlprof.runs(tmp_path)

    assert len(frame) == 0
    assert "wall_ns" in frame.columns


def test_a_folder_that_there_is_not_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the one that the first run would make."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(NoInputError, match="There is no folder nowhere"):
        dlprof.runs("nowhere")
    assert len(dlprof.runs()) == 0


def test_times_can_be_had_in_milliseconds(tmp_path: Path) -> None:
    """With the unit in the name; the frame itself stays as it is."""
    frame = runs_view(tmp_path).phases()

    shown = dlprof.in_ms(frame)

    assert shown.loc["fit.steps", "dur_ms"] == 5000.0
    assert "dur_ns" not in shown.columns
    assert frame.loc["fit.steps", "dur_ns"] == 5 * runs.S


def test_a_page_is_written_into_the_run_and_opened(tmp_path: Path, opened: list[str]) -> None:
    """As `dlprof view` does."""
    runs.trained(tmp_path / "r")

    path = dlprof.view(tmp_path / "r")

    assert path == tmp_path / "r" / "report.html"
    assert "<title>" in path.read_text()
    assert opened == [path.as_uri()]


def test_a_page_makes_no_folder(tmp_path: Path) -> None:
    """One that is misspelt is told, as of an export."""
    for write in (runs_view(tmp_path).view, dlprof.compare(tmp_path / "r", tmp_path / "r").view):
        with pytest.raises(CannotCreateError, match="There is no folder"):
            write(tmp_path / "nowhere" / "page.html", open_browser=False)
    assert not (tmp_path / "nowhere").exists()


def test_a_comparison_has_a_page_too(tmp_path: Path, opened: list[str]) -> None:
    """Where it is told; without a browser if none is wanted."""
    for name in "ab":
        runs.trained(tmp_path / name)

    path = dlprof.view(tmp_path / "a", tmp_path / "b", path=tmp_path / "gap.html", open_browser=False)

    assert "<title>a against b" in path.read_text()
    assert opened == []


def test_a_run_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its own name where none is given; nothing is replaced unless that is wanted."""
    monkeypatch.chdir(tmp_path)
    run = runs_view(tmp_path)

    assert run.export("speedscope") == Path("r.speedscope.json")
    with pytest.raises(CannotCreateError):
        run.export("speedscope")
    assert run.export("speedscope", force=True).is_file()


def test_a_format_that_there_is_not_is_answered_with_the_nearest(tmp_path: Path) -> None:
    """And with those there are."""
    with pytest.raises(UsageError, match="There is no format perfeto; did you mean perfetto?"):
        runs_view(tmp_path).export("perfeto")


@pytest.mark.parametrize(("to", "path"), [(3, None), ("chrome", 3)])
def test_what_names_no_format_or_file_is_refused(tmp_path: Path, to: str, path: str) -> None:
    """In a sentence."""
    with pytest.raises(UsageError, match="not 3"):
        runs_view(tmp_path).export(to, path)


def runs_view(folder: Path) -> RunView:
    """A stored run, opened."""
    return dlprof.open(runs.trained(folder / "r").folder.path)
