"""Between a script and the real terminal, which is a pseudo terminal here; the keeper is a process."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from dlprof.live.keeper import LEAVE
from dlprof.live.terminal import Terminal, refusal
from tests.unit.live.terminals import PseudoTerminal

ENTER = b"\x1b[?1049h\x1b[?25l\x1b[2J"


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Iterator[PseudoTerminal]:
    """The user's terminal, with dlprof in its foreground."""
    monkeypatch.setattr(os, "tcgetpgrp", lambda _descriptor: os.getpgrp())
    with PseudoTerminal() as terminal:
        yield terminal


@pytest.fixture
def terminal(real: PseudoTerminal, tmp_path: Path) -> Iterator[Terminal]:
    """Between it and a script whose streams are all of it."""
    made = Terminal(tmp_path, (real.program,) * 3, real.path)
    yield made
    try:
        made.close()
    except OSError:  # closed by the test
        pass


def script_of(terminal: Terminal) -> int:
    """The script's own copy of its standard output; dlprof's is closed."""
    assert terminal.streams.output is not None
    script = os.dup(terminal.streams.output)
    terminal.started()
    return script


def set_size(descriptor: int, rows: int, columns: int) -> None:
    """Another size of the window."""
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))


@pytest.mark.parametrize(
    ("terminal", "environ", "group", "reason"),
    [
        (False, {"TERM": "xterm"}, None, "standard error is no terminal"),
        (True, {}, None, "the terminal is said to be dumb (TERM)"),
        (True, {"TERM": "dumb"}, None, "the terminal is said to be dumb (TERM)"),
        (True, {"TERM": "xterm"}, 1, "dlprof is not in the foreground of the terminal"),
        (True, {"TERM": "xterm"}, OSError(), "dlprof is not in the foreground of the terminal"),
        (True, {"TERM": "xterm"}, None, None),
    ],
)
def test_where_no_screen_can_be_drawn_the_reason_is_said(
    terminal: bool,
    environ: dict[str, str],
    group: int | OSError | None,
    reason: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else there is none."""

    def foreground(_descriptor: int) -> int:
        if isinstance(group, OSError):
            raise group
        return os.getpgrp() if group is None else group

    monkeypatch.setattr(os, "isatty", lambda _descriptor: terminal)
    monkeypatch.setattr(os, "tcgetpgrp", foreground)

    assert refusal(environ) == reason


def test_streams_of_the_script_that_are_no_terminal_are_left_alone(real: PseudoTerminal, tmp_path: Path) -> None:
    """Input from a file, and output to one."""
    with (tmp_path / "file").open("w+b") as file:
        made = Terminal(tmp_path, (file.fileno(), file.fileno(), real.program), real.path)

        assert made.streams.input is None
        assert made.streams.output is None
        assert made.streams.error is not None
        made.close()


def test_the_scripts_terminal_has_the_size_of_the_real_one(real: PseudoTerminal, terminal: Terminal) -> None:
    """Also after that has changed; the script is told by its signal."""
    script = script_of(terminal)
    told: list[int] = []
    before = signal.signal(signal.SIGWINCH, lambda number, _frame: told.append(number))
    try:
        set_size(real.program, 30, 100)
        terminal.resized(os.getpid())
        terminal.resized(os.getpid())
    finally:
        signal.signal(signal.SIGWINCH, before)

    assert tuple(os.get_terminal_size(script)) == terminal.size() == (100, 30)
    assert told == [signal.SIGWINCH]
    os.close(script)


def test_a_script_that_has_ended_need_not_be_told(real: PseudoTerminal, terminal: Terminal) -> None:
    """Its process is not there any more."""
    set_size(real.program, 30, 100)

    terminal.resized(2**22 + 1)

    assert terminal.size() == (100, 30)


def test_a_terminal_that_does_not_know_its_size_has_the_usual_one(terminal: Terminal) -> None:
    """80 by 24."""
    assert terminal.size() == (80, 24)


def test_the_screen_is_entered_once_drawn_on_and_left(real: PseudoTerminal, terminal: Terminal) -> None:
    """With what the terminal needs for it, and its modes back afterwards."""
    modes = termios.tcgetattr(real.program)

    assert terminal.show()
    assert not terminal.show()
    assert terminal.ready()
    terminal.draw(b"frame")
    assert real.read_until(b"frame") == ENTER + b"frame"

    terminal.hide()
    terminal.hide()
    assert real.read_until(LEAVE) == ENTER + b"frame" + LEAVE
    assert termios.tcgetattr(real.program) == modes
    assert not terminal.ready()


def test_in_the_background_nothing_is_shown(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where the terminal is gone."""
    monkeypatch.setattr(os, "tcgetpgrp", lambda _descriptor: 1)
    assert not terminal.show()

    def gone(_descriptor: int) -> int:
        raise OSError

    monkeypatch.setattr(os, "tcgetpgrp", gone)
    assert not terminal.show()


def test_ctrl_z_leaves_the_screen_before_it_stops(
    real: PseudoTerminal, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler that was there before is back, and takes the signal."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    before = signal.getsignal(signal.SIGTSTP)
    terminal.show()

    signal.raise_signal(signal.SIGTSTP)

    assert sent == [(os.getpid(), signal.SIGTSTP)]
    assert signal.getsignal(signal.SIGTSTP) == before
    assert not terminal.shown


def test_in_the_end_the_terminal_has_all_that_was_printed(real: PseudoTerminal, terminal: Terminal) -> None:
    """Behind the screen, which is left; the keeper's CPU time is measured."""
    script = script_of(terminal)
    terminal.show()
    assert terminal.ready()
    os.write(script, b"printed")
    os.close(script)

    cost_ns = terminal.close()

    assert real.read_until(b"printed") == ENTER + LEAVE + b"printed"
    assert cost_ns is not None
    assert cost_ns > 0


def test_where_others_still_hold_the_scripts_terminal_the_keeper_goes_on(
    real: PseudoTerminal, terminal: Terminal
) -> None:
    """Its cost is not known then; what they print still comes."""
    script = script_of(terminal)

    assert terminal.close() is None

    os.write(script, b"late")
    assert real.read_until(b"late") == b"late"
    os.close(script)


def test_after_a_release_output_comes_at_once(real: PseudoTerminal, terminal: Terminal) -> None:
    """The view has failed; the run goes on."""
    script = script_of(terminal)
    terminal.show()
    assert terminal.ready()

    terminal.release()
    os.write(script, b"printed")

    assert real.read_until(b"printed") == ENTER + LEAVE + b"printed"
    os.close(script)


def test_a_keeper_that_was_killed_is_replaced(real: PseudoTerminal, terminal: Terminal) -> None:
    """And the view is told to end; what was printed comes to the terminal."""
    assert terminal.trouble() is None
    killed = terminal.keeper_pid
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)

    assert terminal.trouble() == "the process that keeps the script's output was killed"
    assert terminal.keeper_pid != killed
    script = script_of(terminal)
    os.write(script, b"printed")
    terminal.release()
    assert real.read_until(b"printed").endswith(b"printed")
    os.close(script)


def test_a_keeper_that_is_killed_at_the_end_is_replaced_too(real: PseudoTerminal, terminal: Terminal) -> None:
    """Nothing that was printed is lost."""
    script = script_of(terminal)
    os.kill(terminal.keeper_pid, signal.SIGKILL)
    os.write(script, b"printed")
    os.close(script)

    terminal.close()

    assert real.read_until(b"printed") == b"printed"


def test_a_full_disk_is_said(real: PseudoTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The view ends with it."""

    def full_disk(**_: Path) -> BinaryIO:
        return open("/dev/full", "r+b", buffering=0)

    monkeypatch.setattr("tempfile.TemporaryFile", full_disk)
    made = Terminal(tmp_path, (real.program,) * 3, real.path)
    script = script_of(made)
    os.write(script, b"much")
    while (trouble := made.trouble()) is None:
        pass

    assert trouble == "the script's output cannot be kept: the disk is full"
    os.close(script)
    made.close()
    assert real.read_until(b"much") == b"much"
