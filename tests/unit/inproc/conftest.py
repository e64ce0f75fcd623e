"""Fixtures for what runs inside a traced process: a clock that tests move, a recorder, a probe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dlprof_probes.inproc import clock, loops, recorder, session
from dlprof_probes.inproc.kernels.windows import NoWindows
from dlprof_probes.inproc.lines import NoLines
from dlprof_probes.inproc.probe import Probe

from dlprof.ingest.own import wire
from dlprof.ingest.own.wire_stream import Stream

HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def traced_as_before() -> Iterator[None]:
    """Lines of the tests themselves are counted afterwards as they were before, whatever a test has switched off."""
    before = sys.gettrace()
    yield
    if sys.gettrace() is not before:
        sys.settrace(before)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a line_profiler without an extension, which needs another package, as in a run folder's payload."""
    folder = tmp_path / "payload"
    folder.mkdir()
    (folder / "line_profiler.py").write_text("import helper_of_profiler\nclass LineProfiler:\n    pass\n")
    (folder / "helper_of_profiler.py").touch()
    monkeypatch.delitem(sys.modules, "line_profiler", raising=False)
    yield folder
    for name in ("line_profiler", "helper_of_profiler"):
        sys.modules.pop(name, None)


class Clock:
    """The time is what a test says; it passes by `+=` on `ns` only."""

    def __init__(self) -> None:
        self.ns = 1000

    def __call__(self) -> int:
        return self.ns


@pytest.fixture
def now() -> Iterator[Clock]:
    """Takes the place of the clock in every module that reads it."""
    stopped = Clock()
    before = clock.use(stopped)
    yield stopped
    clock.use(before)


class Recorded(recorder.Recorder):
    """A recorder whose stream can be read at any time; files of the tests are the user's own."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.folder = folder
        status = folder / "status"
        status.write_bytes(b" " * 1024)
        super().__init__(str(folder / "inproc.wire"), str(status), lambda path: path.startswith(HERE), **more)

    def stream(self) -> Stream:
        """What is written by now."""
        self.flush()
        return wire.read(self.folder / "inproc.wire")

    def spans(self) -> list[tuple[str, str, int, int | None]]:
        """Kind, name, begin and end of each span, in order of their beginning."""
        return [(s.kind, s.name, s.start, s.end) for s in self.stream().spans.values()]

    def names(self) -> list[tuple[str, str]]:
        """Kind and name of each span."""
        return [row[:2] for row in self.spans()]

    def notes(self) -> list[tuple[str, str]]:
        """Slug and message of each note."""
        return [(note.slug, note.message) for note in self.stream().notes]


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Recorded]:
    """A recorder into an empty folder."""
    made = Recorded(tmp_path)
    yield made
    if made.failed is None:
        made.close()


@pytest.fixture
def probe(out: Recorded) -> Iterator[Probe]:
    """A probe that has hooked nothing yet; what a test hooks is undone."""
    windows = NoWindows()
    made = Probe(out, loops.Loops(out, windows), NoLines(), session.load_wrappers(), out._is_user_file, windows)
    yield made
    made.end()
