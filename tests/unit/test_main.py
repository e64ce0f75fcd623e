"""The `dlprof` command: how it ends."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dlprof import __main__ as command
from dlprof import cli
from dlprof.errors import NoInputError
from dlprof.launch import memory_limit
from dlprof.streams import OutputError
from tests.unit.runs import dlprof


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let every command fail with this error."""

    def fail(_words: object) -> None:
        raise error

    monkeypatch.setattr(cli, "parse", fail)


def test_an_error_of_dlprofs_own_is_a_sentence_and_a_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its own exit code."""
    failing(monkeypatch, NoInputError("There is no run x.", hint="dlprof runs"))

    assert dlprof("report", "x") == 66
    assert capsys.readouterr().err == "dlprof: error: There is no run x.\n  try: dlprof runs\n"


def test_an_interrupt_is_said_by_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback."""
    failing(monkeypatch, KeyboardInterrupt())

    assert dlprof("report", "x") == 130


def test_a_bug_is_a_line_and_its_traceback_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In a file that the message names."""
    monkeypatch.delenv("DLPROF_DEBUG", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    failing(monkeypatch, ZeroDivisionError("by 0"))

    assert dlprof("report", "x") == 70
    said = capsys.readouterr().err
    (kept,) = tmp_path.iterdir()
    assert said.startswith("dlprof: internal error: ZeroDivisionError: by 0\n")
    assert str(kept) in said
    assert "ZeroDivisionError: by 0" in kept.read_text()


def test_a_bug_is_a_traceback_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By DLPROF_DEBUG."""
    monkeypatch.setenv("DLPROF_DEBUG", "1")
    failing(monkeypatch, ZeroDivisionError("by 0"))

    assert dlprof("report", "x") == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (errno.EPIPE, 141, ""),
        (errno.ENOSPC, 73, "dlprof: error: Standard output cannot be written to: no space left on device.\n"),
        (errno.EBADF, 73, "dlprof: error: Standard output cannot be written to: bad file descriptor.\n"),
    ],
)
def test_an_output_that_fails_is_said_unless_its_reader_has_enough(
    number: int, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`dlprof … | head` ends as other programs do, without a word."""
    failing(monkeypatch, OutputError(number, os.strerror(number)))

    assert dlprof("report", "x") == code
    assert capsys.readouterr().err == said


def test_a_current_folder_that_was_removed_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """And no bug."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    failing(monkeypatch, FileNotFoundError(2, "No such file or directory"))

    assert dlprof("runs") == 66
    assert capsys.readouterr().err == "dlprof: error: The current folder was removed.\n  try: cd to one that exists\n"


def test_a_bug_is_told_where_no_traceback_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """There is no folder for temporary files."""
    monkeypatch.delenv("DLPROF_DEBUG", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    failing(monkeypatch, ZeroDivisionError("by 0"))

    assert dlprof("report", "x") == 70
    assert "the traceback could not be kept (No such file or directory)" in capsys.readouterr().err


def ended(code: str) -> tuple[int, str]:
    """Exit code and output of a process that is the program, where the command does nothing but end with 3."""
    begin = "import sys\nfrom dlprof import __main__ as command\ncommand.main = lambda: 3\n"
    end = "\nsys.exit(command.program())"
    done = subprocess.run([sys.executable, "-c", begin + code + end], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_what_is_registered_for_the_end_of_the_program_is_done() -> None:
    """And what is still to be printed is printed."""
    assert ended("import atexit\natexit.register(print, 'at the end')\nprint('before', end=' ')") == (
        3,
        "before at the end\n",
    )


def test_a_thread_that_is_still_at_work_is_waited_for() -> None:
    """As Python does."""
    code = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('done'))).start()"
    assert ended(code) == (3, "done\n")


def test_modules_are_left_to_the_kernel() -> None:
    """An object that would speak when it is taken apart is not."""
    code = "class Last:\n    def __del__(self):\n        print('taken apart')\nkept = Last()"

    assert ended(code) == (3, "")


def test_a_program_that_is_watched_ends_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """What profiles it, or measures its coverage, gets to the end."""
    ended_with: list[int] = []
    monkeypatch.setattr(os, "_exit", ended_with.append)
    monkeypatch.setattr(sys, "getprofile", lambda: print)

    command._end(3)

    assert ended_with == []


def test_a_file_of_the_users_that_hides_a_module_of_pythons_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m dlprof` finds a `json.py` of the current folder before Python's own."""
    hiding = SimpleNamespace(__file__="/home/me/wave.py")

    def fails(words: list[str]) -> None:
        """As where dlprof looks for what only Python's own has."""
        raise AttributeError("module 'wave' has no attribute 'open'")

    monkeypatch.setitem(sys.modules, "wave", hiding)
    monkeypatch.setattr(cli, "parse", fails)

    assert command.main() == 69
    assert capsys.readouterr().err == (
        "dlprof: error: /home/me/wave.py hides the module of Python's that has its name.\n"
        "  try: dlprof instead of python -m dlprof; or rename it, or take its folder from PYTHONPATH\n"
    )


def test_without_memory_the_limit_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no bug of dlprof's."""
    monkeypatch.setattr(memory_limit, "allowed", lambda: 61_440_000)
    failing(monkeypatch, MemoryError())

    assert dlprof("report", "x") == 69
    assert (
        capsys.readouterr().err
        == "dlprof: error: Memory ran out: ulimit -v allows 61 MB.\n  try: ulimit -v unlimited\n"
    )


@pytest.mark.parametrize("flags", [["-m", "dlprof"], ["-P", "-m", "dlprof"]])
def test_files_of_the_current_folder_or_of_pythonpath_are_not_loaded(tmp_path: Path, flags: list[str]) -> None:
    """`python -m` puts the one first, and Python the others before its own."""
    for name in ("typing", "re", "enum", "json", "psutil", "numpy", "dataclasses", "pathlib", "argparse", "msgspec"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} of the user')")
    path = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in path if part)}

    done = subprocess.run(
        [sys.executable, *flags, "--version"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.split(" ")[0], done.stderr, done.returncode) == ("dlprof", "", 0)
