"""The real terminal while dlprof draws on it, and the one that the script has meanwhile.

The script's standard streams that are the real terminal become a terminal of its own, with the same modes and size
(`pty`). The keeper (`keeper.py`) takes what comes out of it. The script stays in dlprof's process group and session, so
Ctrl-C and Ctrl-Z at the real terminal reach it as they do without all this.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from dlprof.launch.view import Streams
from dlprof.live import keeper

_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[2J"
_STANDARD = (0, 1, 2)
_SIZE = struct.Struct("4H")
_END_S = 0.5
"""How long the keeper may take to end, when nobody holds the terminal of the script any more."""


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

    Raises:
        OSError: A terminal or a file cannot be made.

    Attributes:
        streams: What the script is to have as its standard streams; `started` closes dlprof's copy.
        spool: Descriptor of the file that takes all that the script prints.
        keeper_pid: The process of the keeper.
    """

    def __init__(self, folder: Path) -> None:
        real = os.fstat(2)
        mine = [fd for fd in _STANDARD if os.isatty(fd) and os.fstat(fd).st_rdev == real.st_rdev]
        # A description of our own: not blocking, without changing that for the script or the shell.
        self._real = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._modes = termios.tcgetattr(self._real)
        self._keys = 0 in mine
        self._live_modes = _live_modes(self._modes, keys=self._keys)
        with tempfile.TemporaryFile(dir=folder) as file:
            self.spool = os.dup(file.fileno())
        self._master, slave = pty.openpty()
        self._slave: int | None = slave
        os.set_blocking(self._master, False)
        termios.tcsetattr(slave, termios.TCSANOW, _modes_of_script(self._modes))
        self._shown_size = b""
        self._pending = b""
        self.shown = False
        self._stop_before: Any = None
        self._set_size()
        self.streams = Streams(*(slave if fd in mine else None for fd in _STANDARD))
        self._keeper, self._control = self._start_keeper()

    @property
    def keeper_pid(self) -> int:
        """The process that hands the script's output on."""
        return self._keeper.pid

    def _start_keeper(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, its = socket.socketpair()
        ours.setblocking(False)
        descriptors = (self._master, self._real, self.spool, its.fileno())
        config = {
            **dict(zip(("master", "terminal", "spool", "control"), descriptors, strict=True)),
            "keys": self._keys,
            "modes": keeper.plain(self._modes),
            "live_modes": keeper.plain(self._live_modes),
        }
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, json.dumps(config)], pass_fds=descriptors,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            its.close()
        return process, ours

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
        self._tell(b"e")
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
            select.select([], [self._real], [], _END_S)  # a stalled terminal gets its time, once
            os.write(self._real, keeper.LEAVE)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._real, termios.TCSANOW, self._modes)
        self._tell(b"l")
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
        try:
            said = self._control.recv(64)
        except BlockingIOError:
            return None
        except OSError:
            said = b""
        if said:
            return "the script's output cannot be kept: the disk is full"
        self._replace_keeper()
        return "the process that keeps the script's output was killed"

    def _replace_keeper(self) -> None:
        self._control.close()
        self._keeper.wait()
        self._keeper, self._control = self._start_keeper()
        self._tell(b"e" if self.shown else b"l")

    def release(self) -> None:
        """Leave the screen for good; what the script printed comes to the terminal, and what it will print."""
        self._tell(b"r")
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
        if not self._handed_through():
            self._replace_keeper()
            self._handed_through()
        self.shown = False
        pid, status, usage = self._keeper_ended()
        for descriptor in (self._real, self._master, self.spool):
            os.close(descriptor)
        self._control.close()
        if not pid:
            return None
        self._keeper.returncode = os.waitstatus_to_exitcode(status)
        return int((usage.ru_utime + usage.ru_stime) * 1e9)

    def _handed_through(self) -> bool:
        """Wait until the keeper has written all that there is; returns whether it did."""
        self._control.setblocking(True)
        said = b""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
            while b"d" not in said:
                said = self._control.recv(64)
                if not said:
                    return False
        return b"d" in said

    def _keeper_ended(self) -> tuple[int, int, Any]:
        pid, status, usage = 0, 0, None
        deadline = time.monotonic() + _END_S
        while not pid and time.monotonic() < deadline:
            time.sleep(0.005)
            pid, status, usage = os.wait4(self._keeper.pid, os.WNOHANG)
        return pid, status, usage

    def _tell(self, order: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(order)


def _live_modes(modes: list[Any], *, keys: bool) -> list[Any]:
    """Modes of the real terminal while dlprof draws: no echo; keys come one by one where the script has them."""
    input_flags, output, control, local, *speeds, codes = modes
    local &= ~termios.ECHO
    codes = list(codes)
    if keys:
        local &= ~(termios.ICANON | termios.IEXTEN)
        input_flags &= ~(termios.IXON | termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP)
        codes[termios.VMIN], codes[termios.VTIME] = 1, 0
    return [input_flags, output, control, local, *speeds, codes]


def _modes_of_script(modes: list[Any]) -> list[Any]:
    """Those of the real terminal, but for what it does to output: that happens there, when it gets it."""
    input_flags, output, *rest = modes
    return [input_flags, output & ~termios.OPOST, *rest]
