"""The status line: what it says, and that it never touches the script's own lines on the terminal."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pyte
import pytest
from dlprof_probes.inproc import loops, recorder

from dlprof.config import TraceConfig
from dlprof.launch import progress
from dlprof.launch.progress import Progress, Reader, StatusLine
from dlprof.rundir import RunDir


def test_the_line_says_where_the_run_is() -> None:
    """Epoch and step count from one, times have units."""
    state = Progress(
        "mlp", "mxnet", elapsed_s=83, doing="fit", epoch=2, epochs=10, step=40, steps=469, step_ns=18.2e6,
        cores_pct=(80.0, 30.0), rss_bytes=2_100_000_000,
    )  # fmt: skip

    line = progress.render(state, 200)

    assert line == "dlprof: mlp on mxnet · fit · epoch 3/10 · step 41/469 · 18.2 ms/step · 01:23 · cores ▇▃ · 2.1 GB"


def test_the_line_fits_the_terminal() -> None:
    """One column less, so that it never wraps."""
    assert len(progress.render(Progress("a" * 300, "b"), 80)) == 79


def test_without_a_terminal_nothing_is_drawn(tmp_path: Path) -> None:
    """A pipe, a file, CI: quiet."""
    line = progress.for_terminal(TraceConfig(script="a.py"), io.StringIO())

    line.tick(RunDir(tmp_path), 1)
    line.stop()


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"TERM": "xterm", "CI": "true"}, {}])
def test_a_dumb_terminal_and_ci_get_no_line(environ: dict[str, str]) -> None:
    """Escape sequences would only be noise there."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def fileno(self) -> int:
            raise AssertionError

    progress.for_terminal(TraceConfig(script="a.py"), Terminal(), environ).stop()


def test_the_scripts_lines_stay_whole_around_the_status_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an emulated terminal of 10 rows: 30 lines scroll by, the last row is ours, then given back."""
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((40, 10)))
    monkeypatch.setattr(progress, "_EVERY_S", 0)
    screen = pyte.Screen(40, 10)
    stream = pyte.ByteStream(screen)
    reading, writing = os.pipe()
    line = StatusLine("mlp", "mxnet", writing)

    def draw() -> None:
        line.tick(RunDir(tmp_path), 1)
        stream.feed(os.read(reading, 1 << 16))

    for number in range(30):
        stream.feed(f"line {number}\r\n".encode())
        draw()
        shown = [row.rstrip() for row in screen.display]
        assert shown[-1].startswith("dlprof: mlp on mxnet")
        printed = [row for row in shown[:-1] if row]
        assert printed == [f"line {n}" for n in range(max(0, number - len(printed) + 1), number + 1)]

    line.stop()
    stream.feed(os.read(reading, 1 << 16))
    stream.feed(b"after\r\n")
    assert "after" in [row.rstrip() for row in screen.display]
    assert not [row for row in screen.display if "dlprof" in row]


def test_the_reader_follows_the_stream_as_it_grows(tmp_path: Path) -> None:
    """Records come in pieces; only whole ones are taken."""
    (tmp_path / "status").write_bytes(b" " * 1024)
    out = recorder.Recorder(str(tmp_path / "inproc.wire"), str(tmp_path / "status"), lambda _path: False)
    state = Progress("mlp", "mxnet")
    reader = Reader(tmp_path, state)
    fit = out.begin("fit", "fit", time_ns=0)
    out.detail(fit, {"epochs": 3, "samples": 1000, "batch_size": 300})
    loop = loops.Loop(out, [0], fit)
    loop.start_epoch(1)
    loop.begin, loop.step_index = 1_000_000, 2
    loop.finish((None, 2), 5_000_000)
    out.flush()

    reader.read()

    assert (state.doing, state.epoch, state.epochs, state.step, state.steps) == ("fit", 1, 3, 2, 4)
    out.end(fit)
    import_span = out.begin("import", "numpy")
    out.flush()
    reader.read()
    assert (state.doing, state.step) == ("import numpy", None)
    out.end(import_span)


def test_a_missing_or_foreign_file_is_no_failure(tmp_path: Path) -> None:
    """The reader must never end the run."""
    (tmp_path / "cores.jsonl").write_bytes(b'["c", 1')

    Reader(tmp_path, Progress("a", "b")).read()
