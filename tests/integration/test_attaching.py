"""`dlprof attach`: whatever becomes of the look, the process goes its own way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

BUSY = """
    import sys
    print("on", flush=True)
    while True:
        sum(range(5000))
"""
ENDS = """
    import sys, time
    print("on", flush=True)
    sys.stdin.readline()
    sys.exit(7)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Takes what a test starts; it is ended."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for one in processes:
        one.kill()
        one.communicate()


def _start(started: list[subprocess.Popen[str]], folder: Path, text: str, python: str = sys.executable) -> int:
    runner.write(folder, "target.py", text)
    process = subprocess.Popen(
        [python, "target.py"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    started.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    return process.pid


def _attach(started: list[subprocess.Popen[str]], folder: Path, pid: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*runner.DLPROF, "attach", str(pid), "-o", "run", "--no-report"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    started.append(process)
    deadline = time.monotonic() + 60
    while not (folder / "run/raw/cores.jsonl").exists():
        assert time.monotonic() < deadline, "the look did not begin"
        time.sleep(0.05)
    time.sleep(1)
    return process


def test_ctrl_c_ends_the_look_and_not_the_process(tmp_path: Path, started: list[subprocess.Popen[str]]) -> None:
    """The run is whole."""
    pid = _start(started, tmp_path, BUSY)
    look = _attach(started, tmp_path, pid)

    os.killpg(look.pid, signal.SIGINT)
    _out, err = look.communicate(timeout=60)

    assert (look.returncode, started[0].poll()) == (0, None), err
    told = runner.report(tmp_path)
    assert (told["source"], told["process"]["pid"]) == ("attached", pid)
    assert any("it went on after that" in line["message"] for line in told["health"])


def test_a_process_that_ends_meanwhile_ends_the_look(tmp_path: Path, started: list[subprocess.Popen[str]]) -> None:
    """With its own exit code for its parent, and a run that says so."""
    pid = _start(started, tmp_path, ENDS)
    look = _attach(started, tmp_path, pid)

    started[0].communicate("\n", timeout=60)
    _out, err = look.communicate(timeout=60)

    assert (look.returncode, started[0].returncode) == (0, 7), err
    assert any("it ended meanwhile" in line["message"] for line in runner.report(tmp_path)["health"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look at everything")
def test_a_process_of_another_user_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """With the command that mends it; nothing is made."""
    done = runner.run([*runner.DLPROF, "attach", "1", "-o", "run"], cwd=tmp_path)
    assert done.code != 0
    assert "only that user may look into it" in done.err
    assert "sudo" in done.err
    assert not (tmp_path / "run").exists()
