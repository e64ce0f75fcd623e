"""Recording allocations in the traced process."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import heap

MEMRAY = """
import rich.progress

class FileDestination:
    def __init__(self, path, overwrite):
        self.path = path

class Tracker:
    said = []
    def __init__(self, destination):
        self.path = destination.path
    def __enter__(self):
        open(self.path, "w").write("allocations")
        self.said.append("begin")
    def __exit__(self, *_what):
        self.said.append("end")

def set_log_level(level):
    Tracker.said.append(level)
"""


class Recorder:
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []
        self.spans: list[str] = []
        self.on_flush: list[Any] = []

    def note(self, slug: str, message: str) -> None:
        """A note."""
        self.notes.append((slug, message))

    def complete(self, _kind: int, name: str, _begin: int, _end: int) -> None:
        """A span."""
        self.spans.append(name)


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """A folder with a memray that loads a `rich` beside it."""
    folder = tmp_path / "tools"
    (folder / "rich").mkdir(parents=True)
    (folder / "rich" / "__init__.py").touch()
    (folder / "rich" / "progress.py").touch()
    (folder / "memray.py").write_text(textwrap.dedent(MEMRAY))
    yield folder
    sys.modules.pop("memray", None)


@pytest.fixture(autouse=True)
def without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a script's process, which has not loaded it."""
    for name in [one for one in sys.modules if one.split(".")[0] in ("rich", "memray")]:
        monkeypatch.delitem(sys.modules, name)


def made(package: Path, tmp_path: Path, most_bytes: int = 1000) -> tuple[Any, Recorder]:
    """What records."""
    recorder = Recorder()
    config = {"package": str(package), "most_bytes": most_bytes}
    return heap.make(config, str(tmp_path / "heap.memray"), recorder), recorder


def said() -> list[Any]:
    """What the tracker was told."""
    told: list[Any] = sys.modules["memray"].Tracker.said
    return told


def test_it_is_recorded_until_it_is_stopped_and_nothing_is_printed(package: Path, tmp_path: Path) -> None:
    """Its own messages would be on the script's standard error."""
    recording, recorder = made(package, tmp_path)
    recording.start()
    recording.stop()
    recording.stop()

    assert said() == [50, "begin", "end"]
    assert (recorder.notes, recorder.spans) == ([], ["start recording allocations"])


def test_what_memray_brought_along_is_not_the_script_s(package: Path, tmp_path: Path) -> None:
    """A script that loads `rich` gets its own; the path is as it was."""
    before = list(sys.path)
    recording, _ = made(package, tmp_path)
    recording.start()

    assert [name for name in sys.modules if name.split(".")[0] == "rich"] == []
    assert sys.path == before


def test_a_file_that_becomes_too_large_ends_the_recording_and_is_told(package: Path, tmp_path: Path) -> None:
    """Looked at whenever the stream is written."""
    recording, recorder = made(package, tmp_path, most_bytes=10)
    recording.start()
    recorder.on_flush[0]()

    assert said() == [50, "begin", "end"]
    assert [slug for slug, _ in recorder.notes] == ["heap-cut"]
    assert recorder.on_flush == []


def test_a_recording_that_cannot_be_ended_keeps_nobody_from_going_on(package: Path, tmp_path: Path) -> None:
    """It is noted, once."""
    recording, recorder = made(package, tmp_path)
    recording.start()
    sys.modules["memray"].Tracker.__exit__ = _failing
    recording.stop()
    recording.stop()

    assert recorder.notes == [("heap-failed", "memray cannot end: RuntimeError: disk full")]


def _failing(*_what: object) -> None:
    raise RuntimeError("disk full")


def test_a_file_that_is_gone_is_looked_at_no_more(package: Path, tmp_path: Path) -> None:
    """The run folder was removed."""
    recording, recorder = made(package, tmp_path)
    recording.start()
    (tmp_path / "heap.memray").unlink()
    recorder.on_flush[0]()

    assert recorder.on_flush == []
    assert recorder.notes == []


def test_without_memray_the_script_runs_and_it_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was wrong with it."""
    monkeypatch.setattr(heap, "importlib", SimpleNamespace(import_module=_missing))
    recording, recorder = made(tmp_path, tmp_path)
    recording.start()
    recording.stop()

    assert recorder.notes == [("heap-failed", "memray cannot record: ImportError: no memray")]


def _missing(_name: str) -> None:
    raise ImportError("no memray")


def test_nothing_is_recorded_where_nobody_asked(tmp_path: Path) -> None:
    """As in nearly all runs."""
    assert type(heap.make(None, str(tmp_path / "heap.memray"), Recorder())) is heap.NoHeap
