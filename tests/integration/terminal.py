"""A program on a terminal of its own, whose screen is emulated, as a user would see it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pyte

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class OnTerminal:
    """A program in the foreground of a new terminal.

    Args:
        command: The program and its arguments.
        cwd: Its folder.
        columns, rows: Size of the terminal.

    Attributes:
        sent: All bytes that the terminal was sent.
        alternate: Whether the alternate screen is shown.
    """

    def __init__(
        self, command: list[str], *, cwd: Path, columns: int = 100, rows: int = 30, env: dict[str, str] | None = None
    ) -> None:
        self.sent = b""
        self.code: int | None = None
        self.alternate = False
        self._screens = [pyte.Screen(columns, rows), pyte.Screen(columns, rows)]
        self._streams = [pyte.ByteStream(screen) for screen in self._screens]
        self._cut = b""
        # The other end stays open here, so that the modes can be seen after the program has ended.
        self._master, self._slave = pty.openpty()
        self.resize(columns, rows)
        self.modes_before = termios.tcgetattr(self._slave)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.login_tty(self._slave)
                os.chdir(cwd)
                os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color", **(env or {})})  # noqa: S606
            finally:
                os._exit(127)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
        for screen in self._screens:
            screen.resize(rows, columns)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._master, keys)

    def hang_up(self) -> None:
        """Close the terminal, as its window would."""
        os.close(self._slave)
        os.close(self._master)

    def modes(self) -> list[object]:
        """The modes of the terminal now."""
        return termios.tcgetattr(self._slave)

    def shown(self) -> str:
        """The screen as text."""
        return "\n".join(row.rstrip() for row in self._screens[self.alternate].display)

    def wait_for(self, condition: Callable[[str], object], seconds: float = 120) -> str:
        """Read until `condition` of the screen is true; returns the screen."""
        end = time.monotonic() + seconds
        while not condition(self.shown()):
            assert time.monotonic() < end, self.shown()
            assert self.code is None, (self.code, self.shown())
            self._read()
        return self.shown()

    def end(self, seconds: float = 120) -> int:
        """Read until the program has ended and all is read; returns its exit code (negative: signal)."""
        end = time.monotonic() + seconds
        while self.code is None:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(self.shown())
            self._read()
        while self._read():
            pass
        return self.code

    def _read(self) -> bool:
        readable, _, _ = select.select([self._master], [], [], 0.1)
        if readable:
            data = os.read(self._master, 1 << 16)
            self.sent += data
            self._feed(data)
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return bool(readable)

    def _feed(self, data: bytes) -> None:
        """Show what was sent; pyte knows no alternate screen, so there are two."""
        parts = re.split(rb"(\x1b\[\?1049[hl])", self._cut + data)
        cut = re.search(rb"\x1b[^a-z]{0,6}\Z", parts[-1])
        self._cut = cut[0] if cut else b""
        parts[-1] = parts[-1][: len(parts[-1]) - len(self._cut)]
        for part in parts:
            if part in (ENTER, LEAVE):
                self.alternate = part == ENTER
            else:
                self._streams[self.alternate].feed(part)

    def main_screen(self) -> bytes:
        """What was sent while the alternate screen was not there."""
        before, _, rest = self.sent.partition(ENTER)
        _, _, after = rest.rpartition(LEAVE)
        return before + after
