"""What is done to a program when it says that it is ready. A script says so with `stage.ready()`."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import struct
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

_LONGER_THAN_A_TICK_S = 0.4
"""dlprof waits a tenth of a second for signals, then looks around."""


@dataclass(frozen=True)
class Running:
    """A program while it runs.

    Attributes:
        pid: Of the program: the bare script, or dlprof.
        script: Of the process that said that it is ready.
        run: The run folder; of a bare run it does not exist.
        terminal: Our end of its terminal; -1: it has none.
    """

    pid: int
    script: int
    run: Path
    terminal: int = -1

    def one(self, word: str) -> psutil.Process | None:
        """The process below it with `word` on its command line; None: there is none, as in a bare run."""
        below = psutil.Process(self.pid).children(recursive=True)
        return next((one for one in below if word in " ".join(one.cmdline())), None)


class Act(Protocol):
    """Something that happens to a program.

    Attributes:
        lets_go: Whether the script waits for leave to go on (`stage.wait()`); else what is done itself wakes it.
    """

    @property
    def lets_go(self) -> bool:
        """See the class."""

    def do(self, running: Running) -> None:
        """Do it."""


@dataclass(frozen=True)
class Signal:
    """A signal, by `kill`.

    Attributes:
        name: As SIGUSR1 or SIGRTMIN+3.
        to: `program`, its whole `group`, or the `script` itself.
        lets_go: See `Act`.
    """

    name: str
    to: str = "program"
    lets_go: bool = False

    def do(self, running: Running) -> None:
        """Send it."""
        base, _, more = self.name.partition("+")
        number = getattr(signal, base) + int(more or 0)
        if self.to == "group":
            os.killpg(running.pid, number)
        else:
            os.kill(running.pid if self.to == "program" else running.script, number)


@dataclass(frozen=True)
class StopAndContinue:
    """SIGSTOP, a while, SIGCONT: to the `program`, or to the `script` itself."""

    to: str = "program"
    lets_go: bool = True

    def do(self, running: Running) -> None:
        """Stop, wait until it has stopped, continue."""
        process = psutil.Process(running.pid if self.to == "program" else running.script)
        process.suspend()
        while process.status() != psutil.STATUS_STOPPED:
            time.sleep(0.01)
        time.sleep(_LONGER_THAN_A_TICK_S)
        process.resume()


@dataclass(frozen=True)
class Keys:
    """Keys that are pressed at the terminal."""

    keys: bytes
    lets_go: bool = False

    def do(self, running: Running) -> None:
        """Press them."""
        os.write(running.terminal, self.keys)


@dataclass(frozen=True)
class Resize:
    """The window of the terminal gets another size."""

    columns: int
    rows: int
    lets_go: bool = False

    def do(self, running: Running) -> None:
        """Tell the terminal."""
        fcntl.ioctl(running.terminal, termios.TIOCSWINSZ, struct.pack("4H", self.rows, self.columns, 0, 0))


@dataclass(frozen=True)
class HangUp:
    """The window of the terminal is closed."""

    lets_go: bool = False

    def do(self, running: Running) -> None:
        """Nothing to be done here: whoever holds the terminal closes it."""


@dataclass(frozen=True)
class RemoveFromRun:
    """Something in the run folder is deleted; nothing to a bare run."""

    path: str = "."
    lets_go: bool = True

    def do(self, running: Running) -> None:
        """Delete it."""
        shutil.rmtree(running.run / self.path, ignore_errors=True)


@dataclass(frozen=True)
class KillHelper:
    """Kill -9 of what measures beside the script, by a word of its command line; nothing to a bare run."""

    word: str
    lets_go: bool = True

    def do(self, running: Running) -> None:
        """Kill it, as soon as it is there; a script that is not traced waits as long for nothing."""
        end = time.monotonic() + 5
        while running.run.exists() and time.monotonic() < end:
            found = running.one(self.word)
            if found is not None:
                found.kill()
                return
            time.sleep(0.02)
