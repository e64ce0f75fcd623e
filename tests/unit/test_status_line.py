"""The status line: what it says, and that it never touches the script's own lines on the terminal."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pyte
import pytest

from dlprof.config import TraceConfig
from dlprof.launch.view import Progress
from dlprof.live import status_line
from dlprof.live.model import Span, State, Step
from dlprof.live.status_line import StatusLine
from dlprof.rundir import RunDir

PROGRESS = Progress(pid=1, origin_ns=0, interrupts=0, probes={})
S = 1_000_000_000


def training() -> State:
    """In the third epoch of ten, two cores busy."""
    state = State("mlp", "mxnet", 0)
    state.meta({"main_thread": 7, "boot_ns": 1})
    state.begin(Span(1, "fit", "fit", 7), S)
    state.detail(1, {"epochs": 10, "samples": 60_000, "batch_size": 128})
    state.begin(Span(2, "epoch", "2", 7), 2 * S)
    state.step(Step(7, 1, 2, 40, 1, 82 * S, 82 * S + 18_200_000, 0, 0, 0, 0, False))
    state.cores_header({"page_bytes": 4096, "ticks_per_s": 100})
    state.cores_sample(82 * S, [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], [[1, 0, 512_695]])
    state.cores_sample(83 * S, [[80, 0, 0, 0, 20], [30, 0, 0, 0, 70]], [[1, 90, 512_695]])
    return state


def test_the_line_says_where_the_run_is() -> None:
    """Epoch and step count from one, times have units."""
    line = status_line.render(training(), 83 * S, 200)

    assert (
        line == "dlprof: mlp on mxnet · fit.steps · epoch 3/10 · step 41/469 · 18.2 ms/step · 01:23 · cores ▇▃ · 2.1 GB"
    )


def test_the_line_fits_the_terminal() -> None:
    """One column less, so that it never wraps."""
    assert len(status_line.render(State("a" * 300, "b", 0), 0, 80)) == 79


def test_names_cannot_steer_the_terminal() -> None:
    """A script's name may hold control codes."""
    assert "\x1b" not in status_line.render(State("a\x1b[2Jb", "x", 0), 0, 80)


def test_without_a_terminal_nothing_is_drawn(tmp_path: Path) -> None:
    """A pipe, a file, CI: quiet."""
    line = status_line.for_terminal(TraceConfig(script="a.py"), io.StringIO())

    line.tick(RunDir(tmp_path), PROGRESS)
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
