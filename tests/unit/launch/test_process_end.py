"""When and how processes end whose parent is another program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dlprof.launch import process_end
from dlprof.launch.process_end import End, Ends, Watched


def ended(command: str, folder: Path, *, reaped: bool) -> End:
    """How a process that does this ended: asked while it is a zombie, or once its parent was."""
    process = subprocess.Popen([sys.executable, "-c", f"input(); {command}"], stdin=subprocess.PIPE)
    watched = Watched(process.pid, folder / "exit")
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.close()
    if reaped:
        process.wait()
    else:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    watched.ended()
    watched.settle()
    watched.close()
    process.wait()
    assert watched.end is not None
    return watched.end


def test_a_zombie_says_how_it_ended(tmp_path: Path) -> None:
    """Its exit code, or the signal."""
    end = ended("raise SystemExit(5)", tmp_path, reaped=False)
    assert (end.exit_code, end.signal) == (5, None)
    end = ended("import os; os.kill(os.getpid(), 9)", tmp_path, reaped=False)
    assert (end.exit_code, end.signal) == (None, signal.SIGKILL)


def test_what_it_left_itself_counts_where_nobody_else_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel before 6.15 knows nothing of a process that is gone."""
    monkeypatch.setattr(Watched, "_told", lambda _self: None)
    (tmp_path / "exit").write_bytes(b"\7\0\0\0")
    end = ended("pass", tmp_path, reaped=True)
    assert (end.exit_code, end.signal) == (7, None)
    (tmp_path / "exit").write_bytes(b"none")
    end = ended("pass", tmp_path, reaped=True)
    assert (end.exit_code, end.signal) == (None, None)


def test_nothing_left_is_no_code(tmp_path: Path) -> None:
    """Never 0."""
    assert process_end.left_status(tmp_path / "exit") is None


def test_all_of_them_are_waited_for_at_once(tmp_path: Path) -> None:
    """Also those that come while others are waited for."""
    ends = Ends()
    processes = [subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(3)]
    watched = [Watched(process.pid, tmp_path / "exit") for process in processes]
    for one in watched:
        ends.watch(one)
    for process in processes:
        process.kill()
    deadline = time.monotonic() + 30
    while any(one.end is None for one in watched) and time.monotonic() < deadline:
        time.sleep(0.01)
    ends.close()
    for process in processes:
        process.wait()

    assert [one.end.signal for one in watched if one.end is not None] == [9, 9, 9]


def test_a_process_that_is_gone_cannot_be_watched(tmp_path: Path) -> None:
    """Who asks learns that at once."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with pytest.raises(OSError):
        Watched(process.pid, tmp_path / "exit")
