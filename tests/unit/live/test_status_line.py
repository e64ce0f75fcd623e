"""The status line: what it says, and that it never touches the script's own lines on the terminal."""

from __future__ import annotations

import io
import os
import pty
from pathlib import Path

import pyte
import pytest

from dlprof.config import TraceConfig
from dlprof.launch.view import Progress, Streams
from dlprof.live import status_line
from dlprof.live.model import LiveRun
from dlprof.live.records import LoopLength, ProcessFacts, Span, Step
from dlprof.live.status_line import StatusLine
from dlprof.rundir import RunDir
from tests.unit.live.live_runs import IDLE, S, cores

PROGRESS = Progress(pid=1, origin_ns=0, interrupts=0, probes={})


def training() -> LiveRun:
    """In the third epoch of ten, two cores busy."""
    live = LiveRun("mlp", "mxnet", 0)
    live.process_said(ProcessFacts(main_thread=7, boot_ns=1))
    live.begin(Span(1, "fit", "fit", 7), S)
    live.expect(1, LoopLength(epochs=10, steps=469))
    live.begin(Span(2, "epoch", "2", 7), 2 * S)
    live.step(Step(7, 1, 2, 40, 1, 82 * S, 82 * S + 18_200_000, 0, 0, 0, 0, False))
    live.machine.units(4096, 100)
    live.machine.cores_sample(cores(82 * S, [IDLE, IDLE], (1, 0, 512_695)))
    live.machine.cores_sample(cores(83 * S, [(80, 0, 0, 0, 20), (30, 0, 0, 0, 70)], (1, 90, 512_695)))
    return live


def test_the_line_says_where_the_run_is() -> None:
    """Epoch and step count from one, times have units."""
    line = status_line.render(training(), 83 * S, 200)

    assert (
        line == "dlprof: mlp on mxnet · fit.steps · epoch 3/10 · step 41/469 · 18.2 ms/step · 01:23 · cores ▇▃ · 2.1 GB"
    )


def test_the_line_fits_the_terminal() -> None:
    """One column less, so that it never wraps."""
    assert len(status_line.render(LiveRun("a" * 300, "b", 0), 0, 80)) == 79


def test_names_cannot_steer_the_terminal() -> None:
    """A script's name may hold control codes."""
    assert "\x1b" not in status_line.render(LiveRun("a\x1b[2Jb", "x", 0), 0, 80)


def test_without_a_terminal_nothing_is_drawn(tmp_path: Path) -> None:
    """A pipe or a file: not a byte, neither meanwhile nor at the end."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream, os.fdopen(reading, "rb") as other_end:
        line = status_line.for_terminal(TraceConfig(script="a.py"), stream, {"TERM": "xterm"})

        line.tick(RunDir(tmp_path), PROGRESS)
        line.close()

        stream.close()
        assert other_end.read() == b""


@pytest.mark.parametrize(("progress", "drawn"), [(True, True), (False, False)])
def test_a_terminal_gets_a_line_unless_progress_is_not_wanted(progress: bool, drawn: bool, tmp_path: Path) -> None:
    """`--no-progress`; the terminal is a real one."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    with os.fdopen(slave, "w") as stream, os.fdopen(master, "rb", buffering=0) as other_end:
        line = status_line.for_terminal(TraceConfig(script="a.py", progress=progress), stream, {"TERM": "xterm"})

        line.tick(RunDir(tmp_path), PROGRESS)

        assert (b"dlprof: a" in (other_end.read() or b"")) == drawn
        line.close()


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"TERM": "xterm", "CI": "true"}, {}])
def test_a_dumb_terminal_and_ci_get_no_line(environ: dict[str, str]) -> None:
    """Escape sequences would only be noise there."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def fileno(self) -> int:
            raise AssertionError

    status_line.for_terminal(TraceConfig(script="a.py"), Terminal(), environ).close()


def test_the_scripts_lines_stay_whole_around_the_status_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an emulated terminal of 10 rows: 30 lines scroll by, the last row is ours, then given back."""
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((40, 10)))
    monkeypatch.setattr(status_line, "_EVERY_S", 0)
    screen = pyte.Screen(40, 10)
    stream = pyte.ByteStream(screen)
    reading, writing = os.pipe()
    line = StatusLine("mlp", "mxnet", writing)

    def draw() -> None:
        line.tick(RunDir(tmp_path), PROGRESS)
        stream.feed(os.read(reading, 1 << 16))

    for number in range(30):
        stream.feed(f"line {number}\r\n".encode())
        draw()
        shown = [row.rstrip() for row in screen.display]
        assert shown[-1].startswith("dlprof: mlp on mxnet")
        printed = [row for row in shown[:-1] if row]
        assert printed == [f"line {n}" for n in range(max(0, number - len(printed) + 1), number + 1)]

    line.close()
    stream.feed(os.read(reading, 1 << 16))
    stream.feed(b"after\r\n")
    assert "after" in [row.rstrip() for row in screen.display]
    assert not [row for row in screen.display if "dlprof" in row]


def test_a_terminal_that_is_gone_ends_the_line_and_not_the_run(tmp_path: Path) -> None:
    """Nothing is raised, and nothing is drawn again."""
    reading, writing = os.pipe()
    os.close(reading)
    line = StatusLine("mlp", "mxnet", writing)

    line.tick(RunDir(tmp_path), PROGRESS)
    line.tick(RunDir(tmp_path), PROGRESS)
    line.close()

    os.close(writing)
    assert line._descriptor is None


def test_the_line_needs_no_process_and_no_streams_of_its_own(tmp_path: Path) -> None:
    """The script writes to the same terminal."""
    line = StatusLine("mlp", "mxnet", None)

    assert line.open(RunDir(tmp_path)) == Streams()
    assert line.helpers() == ()
