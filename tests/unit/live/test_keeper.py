"""The keeper of a script's terminal, run in a thread between two pseudo terminals."""

from __future__ import annotations

import os
import select
import socket
import termios
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dlprof.live import keeper
from dlprof.live.keeper import DONE, ENTERED, FULL, LEAVE, LEFT, RELEASE, Keeper, Task, plain
from tests.unit.live.terminals import PATIENCE_S, PseudoTerminal


class Kept:
    """A keeper at work: `script` is the script's terminal, `real` the user's."""

    def __init__(self, *, keys: bool = False, spool: int | None = None, live_modes: list[Any] | None = None) -> None:
        self.script, self.real = PseudoTerminal(), PseudoTerminal()
        self.spool = os.memfd_create("spool") if spool is None else os.dup(spool)
        self.control, its = socket.socketpair()
        self.terminal = os.open(self.real.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        before = plain(termios.tcgetattr(self.terminal))
        self.keeper = Keeper(
            Task(self.script.far, self.terminal, self.spool, its.detach(), keys, before, live_modes or before)
        )
        self._thread = threading.Thread(target=self.keeper.run, daemon=True)

    def start(self) -> Kept:
        """Run it."""
        self._thread.start()
        return self

    def ends(self) -> bool:
        """Whether it comes to its end."""
        self._thread.join(PATIENCE_S)
        return not self._thread.is_alive()

    def close(self) -> None:
        """Let it end, and close all."""
        if self._thread.is_alive():
            self.control.close()
            os.close(self.script.program)
            self.ends()
        for terminal in (self.script, self.real):
            terminal.__exit__()
        for descriptor in (self.spool, self.terminal):
            os.close(descriptor)
        self.control.close()

    def spooled(self, size: int) -> bytes:
        """What is in the spool, once it is that much."""
        wait_for(lambda: os.fstat(self.spool).st_size >= size)
        return os.pread(self.spool, 1 << 16, 0)


def wait_for(condition: Callable[[], bool]) -> None:
    """Until it holds; fails the test where it never does."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.fixture
def make() -> Iterator[Callable[..., Kept]]:
    """Makes keepers, and ends them with the test."""
    made: list[Kept] = []

    def new(**settings: Any) -> Kept:
        made.append(Kept(**settings))
        return made[-1]

    yield new
    for kept in made:
        kept.close()


@pytest.fixture
def in_foreground(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's terminal is taken for the one that controls this process."""
    monkeypatch.setattr(os, "tcgetpgrp", lambda _descriptor: os.getpgrp())


def test_output_waits_in_the_spool_until_the_screen_is_left(make: Callable[..., Kept]) -> None:
    """Then it follows what leaves the screen, and what is printed later comes at once."""
    kept = make().start()
    kept.control.send(ENTERED)
    os.write(kept.script.program, b"first ")
    assert kept.spooled(6) == b"first "
    assert kept.real.read() == b""

    kept.control.send(RELEASE)
    assert kept.real.read_until(b"first ") == LEAVE + b"first "
    os.write(kept.script.program, b"second")

    assert kept.real.read_until(b"second") == LEAVE + b"first second"


def test_a_screen_that_was_left_already_is_not_left_again(make: Callable[..., Kept]) -> None:
    """It would take the cursor of a shell's prompt away."""
    kept = make().start()
    kept.control.send(ENTERED + LEFT + RELEASE)
    os.write(kept.script.program, b"text")

    assert kept.real.read_until(b"text") == b"text"


def test_the_end_of_dlprof_is_a_release_and_the_end_of_the_script_its_own(make: Callable[..., Kept]) -> None:
    """It says when all is handed through."""
    kept = make().start()
    kept.control.send(ENTERED)
    os.write(kept.script.program, b"last words")
    kept.spooled(10)

    os.close(kept.script.program)
    kept.control.shutdown(socket.SHUT_WR)

    assert kept.control.recv(8) == DONE
    assert kept.real.read_until(b"words") == LEAVE + b"last words"
    assert kept.ends()


def test_while_others_hold_the_scripts_terminal_it_says_that_it_is_done_and_goes_on(make: Callable[..., Kept]) -> None:
    """What a script has started, and left running, may print later."""
    kept = make().start()
    kept.control.shutdown(socket.SHUT_WR)

    assert kept.control.recv(8) == DONE
    os.write(kept.script.program, b"late")

    assert kept.real.read_until(b"late") == b"late"


@pytest.mark.usefixtures("in_foreground")
def test_keys_reach_the_script(make: Callable[..., Kept]) -> None:
    """Those that are typed while the screen is there."""
    kept = make(keys=True).start()
    kept.control.send(ENTERED)

    os.write(kept.real.far, b"yes")

    assert select.select([kept.script.program], [], [], PATIENCE_S)[0]
    assert os.read(kept.script.program, 8) == b"yes"


def test_keys_are_the_shells_while_dlprof_is_in_the_background(make: Callable[..., Kept]) -> None:
    """The terminal is not even looked at."""
    kept = make(keys=True)
    kept.keeper._entered = True

    assert kept.terminal not in kept.keeper._wanted()


def test_keys_are_not_handed_on_where_the_scripts_input_is_no_terminal(
    make: Callable[..., Kept], in_foreground: None
) -> None:
    """It is a file or a pipe, and left alone."""
    kept = make(keys=False)
    kept.keeper._entered = True

    assert kept.terminal not in kept.keeper._wanted()


def test_what_a_full_disk_does_not_take_comes_to_the_terminal(make: Callable[..., Kept]) -> None:
    """And dlprof is told, so that it leaves the screen."""
    with open("/dev/full", "r+b", buffering=0) as full:
        kept = make(spool=full.fileno()).start()
    os.write(kept.script.program, b"much")

    assert kept.control.recv(8) == FULL
    kept.control.send(RELEASE)

    assert kept.real.read_until(b"much") == b"much"
    os.write(kept.script.program, b" more")
    assert kept.real.read_until(b" more") == b"much more"


def test_the_terminal_gets_its_modes_back_when_dlprof_is_gone(make: Callable[..., Kept]) -> None:
    """Those that dlprof had set are replaced."""
    probe = PseudoTerminal()
    live = termios.tcgetattr(probe.program)
    live[3] |= termios.ECHO
    kept = make(live_modes=plain(live))
    before = plain(termios.tcgetattr(kept.terminal))
    termios.tcsetattr(kept.terminal, termios.TCSANOW, live)

    kept.start()
    kept.control.shutdown(socket.SHUT_WR)
    kept.control.recv(8)

    assert plain(termios.tcgetattr(kept.terminal)) == before
    probe.__exit__()


def test_modes_that_someone_else_has_set_stay(make: Callable[..., Kept]) -> None:
    """A shell's prompt may be back already."""
    kept = make()
    others = termios.tcgetattr(kept.terminal)
    others[3] |= termios.ECHO | termios.ICANON
    termios.tcsetattr(kept.terminal, termios.TCSANOW, others)

    kept.start()
    kept.control.shutdown(socket.SHUT_WR)
    kept.control.recv(8)

    assert plain(termios.tcgetattr(kept.terminal)) == plain(others)


def test_a_terminal_that_is_gone_does_not_hold_the_script_up(make: Callable[..., Kept]) -> None:
    """What it printed is read to the end, though nobody sees it."""
    kept = make().start()
    os.close(kept.real.far)
    kept.control.send(RELEASE)
    os.write(kept.script.program, b"unseen")

    kept.spooled(6)
    os.close(kept.script.program)
    kept.control.shutdown(socket.SHUT_WR)

    assert kept.ends()


def test_the_task_travels_as_json() -> None:
    """Control characters of terminals are bytes, which JSON lacks."""
    with PseudoTerminal() as terminal:
        modes = plain(termios.tcgetattr(terminal.program))
    task = Task(1, 2, 3, 4, True, modes, modes)

    import json

    assert keeper.Task(**json.loads(json.dumps(task._asdict()))) == task
    assert task.descriptors() == (1, 2, 3, 4)
