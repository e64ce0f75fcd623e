"""A process that runs already: what it is, and whether it may be looked at."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dlprof_probes.sidecar import proc

from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.launch.running_process import RunningProcess, described

WAITING = "input()"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A Python that waits for its input."""
    started = subprocess.Popen([sys.executable, "-c", WAITING], stdin=subprocess.PIPE)
    yield started
    started.kill()
    started.communicate()


def test_one_that_waits_has_not_ended(child: subprocess.Popen[bytes]) -> None:
    """It is the Python that was started, and has used some time."""
    process = RunningProcess(child.pid)

    assert not process.wait(0.01)
    assert process.is_python()
    assert process.program().arguments == ("-c", WAITING)
    assert process.program().folder == Path.cwd()
    process.close()


def test_its_end_is_seen_at_once(child: subprocess.Popen[bytes]) -> None:
    """Its time is what was seen last."""
    process = RunningProcess(child.pid)
    child.communicate(b"\n")

    assert process.wait(60.0)
    assert len(process.used()) == 2


def test_one_that_has_ended_is_refused(child: subprocess.Popen[bytes]) -> None:
    """Its parent has still to ask how."""
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    with pytest.raises(NoInputError, match=r"has ended"):
        RunningProcess(child.pid)


@pytest.mark.parametrize("pid", [0, -1, 2**30])
def test_one_that_is_not_there_is_refused(pid: int) -> None:
    """A number may be any."""
    with pytest.raises(NoInputError, match=f"There is no process {pid}"):
        RunningProcess(pid)


def test_dlprof_does_not_look_at_itself() -> None:
    """It would wait for its own end."""
    with pytest.raises(UsageError, match="dlprof itself"):
        RunningProcess(os.getpid())


@pytest.mark.parametrize(
    ("scope", "owner", "sentence", "hint"),
    [
        (b"1\n", 0, "lets no other process look into process", "sudo sysctl kernel.yama.ptrace_scope=0"),
        (b"2\n", 0, "kernel.yama.ptrace_scope is 2", "sudo dlprof attach"),
        (b"", 0, "CAP_SYS_PTRACE", "docker run --cap-add SYS_PTRACE"),
        (b"1\n", 1, "only that user may look into it", "sudo dlprof attach"),
    ],
)
def test_a_missing_right_is_one_sentence_and_the_command_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, child: subprocess.Popen[bytes], scope: bytes, owner: int, sentence: str, hint: str
) -> None:
    """By what the kernel says of its rules, and whose process it is."""

    def refused(*_arguments: object) -> int:
        raise PermissionError

    process = RunningProcess(child.pid)
    me = os.geteuid()
    monkeypatch.setattr(sys, "argv", ["dlprof"])
    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(os, "geteuid", lambda: me + owner)
    monkeypatch.setattr(proc, "read", lambda _path: scope)

    with pytest.raises(UnavailableError) as caught:
        process.check_stacks()
    monkeypatch.undo()

    assert sentence in caught.value.message
    assert hint in (caught.value.hint or "")


def test_the_right_is_that_of_reading_memory(child: subprocess.Popen[bytes]) -> None:
    """Who may, is not told anything."""
    RunningProcess(child.pid).check_stacks()


@pytest.mark.parametrize(
    ("words", "script", "module", "arguments"),
    [
        (["python", "train.py", "--epochs", "3"], "/home/me/train.py", None, ("--epochs", "3")),
        (["python", "-u", "-W", "ignore", "/x/train.py"], "/x/train.py", None, ()),
        (["python", "-X", "dev", "-m", "pkg.train", "-v"], None, "pkg.train", ("-v",)),
        (["python", "-c", "x = 1"], None, None, ("-c", "x = 1")),
        (["python"], None, None, ()),
        ([], None, None, ()),
    ],
)
def test_a_command_line_of_python_tells_what_it_runs(
    words: list[str], script: str | None, module: str | None, arguments: tuple[str, ...]
) -> None:
    """Options of Python come before it."""
    found = described(words, Path("/home/me"), python=True)

    assert (found.script and str(found.script), found.module, found.arguments) == (script, module, arguments)


def test_another_program_is_itself() -> None:
    """Its first word is no script."""
    found = described(["julia", "train.jl"], None, python=False)

    assert (found.script, found.arguments, found.script_folder) == (None, ("train.jl",), Path("/"))
