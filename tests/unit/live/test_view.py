"""The view of `--live`: what it draws when, and that no failure of its own ends the run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dlprof.config import TraceConfig
from dlprof.launch.view import Progress, Streams
from dlprof.live import view
from dlprof.live.view import LiveView
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Probe

PROGRESS = Progress(
    pid=42, origin_ns=0, interrupts=0, probes={"gpu": Probe(name="gpu", state="off", reason="not asked for")}
)


class StandIn:
    """In place of the terminal: keeps what is done with it."""

    def __init__(self, _folder: Path) -> None:
        self.streams = Streams(3, 4, 5)
        self.keeper_pid = 99
        self.spool = os.memfd_create("spool")
        self.frames: list[bytes] = []
        self.columns = 80
        self.told: str | None = None
        self.released = 0
        self.shown = False
        self.closes: int | OSError | None = 2_000_000

    def started(self) -> None: ...

    def resized(self, pid: int) -> None:
        assert pid == 42

    def trouble(self) -> str | None:
        return self.told

    def show(self) -> bool:
        was, self.shown = self.shown, True
        return not was

    def ready(self) -> bool:
        return True

    def size(self) -> tuple[int, int]:
        return self.columns, 24

    def draw(self, frame: bytes) -> None:
        self.frames.append(frame)

    def release(self) -> None:
        self.released += 1

    def close(self) -> int | None:
        if isinstance(self.closes, OSError):
            raise self.closes
        return self.closes


class Shown:
    """A live view of a run, with a stand-in for its terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = RunDir(folder)
        self.folder.raw.mkdir()
        self.said: list[str] = []
        self.view = LiveView(TraceConfig(script="mlp.py", backend="mxnet"), self.said.append)
        self.streams = self.view.open(self.folder)

    @property
    def terminal(self) -> Any:
        return self.view._terminal

    def tick(self, progress: Progress = PROGRESS) -> None:
        self.view.tick(self.folder, progress)


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A view that draws at every tick."""
    monkeypatch.setattr(view, "Terminal", StandIn)
    monkeypatch.setattr(view, "_EVERY_S", 0.0)
    return Shown(tmp_path)


def test_the_script_gets_the_terminals_streams_and_the_keeper_is_a_helper(shown: Shown) -> None:
    """It is no process of the script's."""
    assert shown.streams == Streams(3, 4, 5)
    assert shown.view.helpers() == (99,)


def test_a_frame_has_the_run_and_what_the_launcher_knows(shown: Shown) -> None:
    """Script, process, states of probes."""
    shown.tick()

    (frame,) = shown.terminal.frames
    assert frame.startswith(b"\x1b[2J")
    assert b"mlp on mxnet" in frame
    assert b"process 42" in frame
    assert b"off: gpu" in frame


def test_an_interrupt_is_shown(shown: Shown) -> None:
    """The script goes on."""
    shown.tick(Progress(42, 0, 1, {}))

    assert b"interrupted, Ctrl-C again ends it" in shown.terminal.frames[0]


def test_frames_after_the_first_hold_only_what_changed(shown: Shown) -> None:
    """All of it again after the size has changed, or the screen was left and entered."""
    shown.tick()
    shown.tick()
    first, second = map(len, shown.terminal.frames)
    assert second < first / 2

    shown.terminal.columns = 81
    shown.tick()
    shown.terminal.shown = False
    shown.tick()
    assert [len(frame) > first / 2 for frame in shown.terminal.frames[2:]] == [True, True]


def test_between_two_frames_some_time_passes(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher ticks more often."""
    monkeypatch.setattr(view, "_EVERY_S", 1000.0)
    shown.view._drawn_s = 1e12
    shown.tick()

    assert shown.terminal.frames == []


def test_the_ledger_has_the_cpu_time_of_drawing_and_of_the_keeper(shown: Shown) -> None:
    """Where the keeper goes on for others, that of drawing."""
    shown.view._cost_ns = 5
    assert shown.view.close() == Probe(
        name="live",
        state="on",
        cost_ns=2_000_005,
        cost_source="measured: CPU time of drawing and of keeping the output",
    )


def test_without_the_keepers_time_the_ledger_has_that_of_drawing(shown: Shown) -> None:
    """Others still hold the script's terminal."""
    shown.terminal.closes = None
    shown.view._cost_ns = 5

    told = shown.view.close()

    assert told is not None
    assert (told.cost_ns, told.cost_source) == (5, "measured: CPU time of drawing")


def test_a_terminal_that_cannot_be_made_ends_the_view_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script keeps dlprof's own streams; the reason is said in the end."""

    def refuse(_folder: Path) -> StandIn:
        raise OSError("no pty")

    monkeypatch.setattr(view, "Terminal", refuse)
    shown = Shown(tmp_path)
    shown.tick()

    assert shown.streams == Streams()
    assert shown.view.helpers() == ()
    assert shown.view.close() == Probe(name="live", state="failed", reason="OSError: no pty")
    assert shown.said == ["the live view ended early: OSError: no pty"]


def test_a_failure_while_drawing_gives_the_terminal_back(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is drawn any more."""

    def fail(*_: Any) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr("dlprof.live.screen.Screen.rows", fail)
    shown.tick()
    monkeypatch.undo()
    shown.tick()

    assert shown.terminal.released == 1
    assert shown.terminal.frames == []
    assert shown.view.close() == Probe(
        name="live",
        state="failed",
        reason="RuntimeError: no more",
        cost_ns=shown.view._cost_ns + 2_000_000,
        cost_source="measured: CPU time of drawing and of keeping the output",
    )


def test_trouble_of_the_keeper_gives_the_terminal_back(shown: Shown) -> None:
    """The first reason is the one that is said."""
    shown.terminal.told = "the disk is full"
    shown.tick()
    shown.terminal.told = "something later"
    shown.tick()
    shown.view.close()

    assert shown.said == ["the live view ended early: the disk is full"]


def test_a_terminal_that_cannot_be_closed_does_not_end_the_run(shown: Shown) -> None:
    """Its tables are still to be made."""
    shown.terminal.closes = OSError("gone")

    told = shown.view.close()

    assert told is not None
    assert told.reason == "OSError: gone"


@pytest.mark.parametrize(("encoding", "ascii_only"), [("utf-8", False), ("latin-1", True), ("no such", True)])
def test_a_terminal_whose_encoding_lacks_blocks_gets_ascii(encoding: str, ascii_only: bool) -> None:
    """Or whose encoding is not known."""
    assert view._can_encode("█─", encoding) is not ascii_only
