"""The real terminal while dlprof draws on it, and the one that the script has meanwhile.

The script's standard streams that are the real terminal become a terminal of its own, with the same modes and size
(`pty`). The keeper (`keeper.py`) takes what comes out of it. The script stays in dlprof's process group and session, so
Ctrl-C and Ctrl-Z at the real terminal reach it as they do without all this.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import tempfile
import termios
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from dlprof.launch.view import Streams
from dlprof.live import keeper, modes
from dlprof.live.keeper_process import KeeperProcess

_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[2J"
_SIZE = struct.Struct("4H")
_STALL_S = 0.5
"""How long a terminal that takes nothing is waited for."""


def refusal(environ: Mapping[str, str]) -> str | None:
    """Why no screen can be drawn on standard error; None where one can."""
    if not os.isatty(2):
        return "standard error is no terminal"
    if environ.get("TERM", "dumb") == "dumb":
        return "the terminal is said to be dumb (TERM)"
    try:
        if os.tcgetpgrp(2) == os.getpgrp():
            return None
    except OSError:
        pass
    return "dlprof is not in the foreground of the terminal"


class Terminal:
    """Stands between the script and the real terminal.

    Args:
        folder: Where the spool file is made; it has no name there, and goes when its users do.
        standard: Standard input, output and error; the last one is the real terminal.
        device: The real terminal, to be opened anew.

    Raises:
        OSError: A terminal or a file cannot be made.

    Attributes:
        streams: What the script is to have as its standard streams; `started` closes dlprof's copy.
        spool: Descriptor of the file that takes all that the script prints.
        keeper_pid: The process of the keeper.
    """

    def __init__(self, folder: Path, standard: tuple[int, int, int] = (0, 1, 2), device: str = "/dev/tty") -> None:
        on_terminal = [_same_terminal(descriptor, standard[2]) for descriptor in standard]
        # A description of our own: not blocking, without changing that for the script or the shell.
        self._real = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._modes = termios.tcgetattr(self._real)
        self._live_modes = modes.while_drawing(self._modes, keys=on_terminal[0])
        with tempfile.TemporaryFile(dir=folder) as file:
            self.spool = os.dup(file.fileno())
        self._master, slave = pty.openpty()
        self._slave: int | None = slave
        os.set_blocking(self._master, False)
        termios.tcsetattr(slave, termios.TCSANOW, modes.of_script(self._modes))
        self._shown_size = b""
        self._pending = b""
        self.shown = False
        self._stop_before: Any = None
        self._set_size()
        self.streams = Streams(*(slave if on else None for on in on_terminal))
        before, meanwhile = keeper.plain(self._modes), keeper.plain(self._live_modes)
        task = keeper.Task(self._master, self._real, self.spool, -1, on_terminal[0], before, meanwhile)
        self._keeper = KeeperProcess(task)

    @property
    def keeper_pid(self) -> int:
        """The process that hands the script's output on."""
        return self._keeper.pid

    def started(self) -> None:
        """The script has its streams: nobody else is to hold its terminal open."""
        if self._slave is not None:
            os.close(self._slave)
            self._slave = None

    # -- the screen ------------------------------------------------------------------------------------

    def show(self) -> bool:
        """Make sure that the screen is there; returns whether it is now, and was not before."""
        if self.shown or not self._in_foreground():
            return False
        self._keeper.tell(keeper.ENTERED)
        self._stop_before = signal.signal(signal.SIGTSTP, self._stopped)
        termios.tcsetattr(self._real, termios.TCSANOW, self._live_modes)
        self.shown = True
        self._pending = _ENTER
        return True

    def hide(self) -> None:
        """Leave the screen for now."""
        if not self.shown:
            return
        self.shown = False
        self._pending = b""
        with contextlib.suppress(OSError):
            select.select([], [self._real], [], _STALL_S)  # a stalled terminal gets its time, once
            os.write(self._real, keeper.LEAVE)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._real, termios.TCSANOW, self._modes)
        self._keeper.tell(keeper.LEFT)
        signal.signal(signal.SIGTSTP, self._stop_before)

    def _stopped(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: give the terminal to the shell first; in the foreground again, `show` takes it back."""
        self.hide()
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._real, termios.TCSANOW, self._modes)
        # Whatever else is true, this handler must be gone by now: it would come back here, again and again.
        signal.signal(signal.SIGTSTP, self._stop_before)
        os.kill(os.getpid(), signal.SIGTSTP)

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._real) == os.getpgrp()
        except OSError:  # the terminal is gone
            return False

    def ready(self) -> bool:
        """Whether a frame can be drawn: the screen is there, and has taken the one before."""
        if self._pending:
            try:
                self._pending = self._pending[os.write(self._real, self._pending) :]
            except BlockingIOError:
                pass
        return self.shown and not self._pending

    def draw(self, frame: bytes) -> None:
        """Begin to draw a frame; `ready` goes on with it where the terminal is slow."""
        self._pending = frame
        self.ready()

    def size(self) -> tuple[int, int]:
        """Columns and rows of the real terminal."""
        columns, rows = os.get_terminal_size(self._real)
        return columns or 80, rows or 24

    def resized(self, pid: int) -> None:
        """Pass a new size on to the script's terminal, and tell the script once more that there is one."""
        if self._set_size():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGWINCH)

    def _set_size(self) -> bool:
        size = fcntl.ioctl(self._real, termios.TIOCGWINSZ, bytes(_SIZE.size))
        if size == self._shown_size:
            return False
        self._shown_size = size
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        return True

    # -- the keeper ------------------------------------------------------------------------------------

    def trouble(self) -> str | None:
        """What the keeper cannot do any more; None while all is well."""
        said = self._keeper.said()
        if said is None:
            return None
        if said:
            return "the script's output cannot be kept: the disk is full"
        self._replace_keeper()
        return "the process that keeps the script's output was killed"

    def _replace_keeper(self) -> None:
        self._keeper.replace()
        self._keeper.tell(keeper.ENTERED if self.shown else keeper.LEFT)

    def release(self) -> None:
        """Leave the screen for good; what the script printed comes to the terminal, and what it will print."""
        self._keeper.tell(keeper.RELEASE)
        if not self.shown and self._in_foreground():  # keys are still handed on, one by one
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._real, termios.TCSANOW, self._live_modes)
        self.shown = False
        self._pending = b""

    def close(self) -> int | None:
        """The script has ended: restore the terminal, with all that was printed on it.

        Returns:
            CPU time of the keeper (ns); None where others still hold the script's terminal, and it goes on for them.
        """
        self.started()
        if self._stop_before is not None:
            signal.signal(signal.SIGTSTP, self._stop_before)
        if not self._keeper.finish():
            self._replace_keeper()
            self._keeper.finish()
        self.shown = False
        cpu_ns = self._keeper.end()
        for descriptor in (self._real, self._master, self.spool):
            os.close(descriptor)
        self._keeper.close()
        return cpu_ns


def _same_terminal(descriptor: int, other: int) -> bool:
    return os.isatty(descriptor) and os.fstat(descriptor).st_rdev == os.fstat(other).st_rdev
