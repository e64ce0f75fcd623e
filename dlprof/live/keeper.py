"""Keeps the script's terminal, in a process of its own, while dlprof draws on the real one.

    python keeper.py TASK

It copies all that the script prints into the spool file, without delay, and hands keys to the script. When it is told
to, or when dlprof has ended in whatever way, it leaves dlprof's screen, restores the modes of the real terminal and
writes the spool there, and from then on what still comes. So neither a busy nor a killed dlprof holds the script up,
and nothing that was printed is lost.

TASK is a `Task` as JSON. dlprof sends `ENTERED`, `LEFT` and `RELEASE`; the end of the socket means: restore the
terminal, and end. The keeper sends `FULL` and `DONE`. All signals are blocked in it: at Ctrl-C it must stay.

Standard library only, and run by its path, so that it starts at once.
"""

from __future__ import annotations

import errno
import json
import os
import select
import socket
import sys
import termios
from typing import Any, NamedTuple

LEAVE = b"\x1b[0m\x1b[?25h\x1b[?1049l"
"""Plain colours, the cursor visible, back from the alternate screen."""
ENTERED, LEFT, RELEASE = b"e", b"l", b"r"
"""Orders: the screen was entered; it was left; leave it, and hand everything through."""
FULL, DONE = b"f", b"d"
"""Answers: the spool cannot be written; all is handed through."""
_CHUNK = 1 << 16
_QUIET_MS = 50
"""What a script that has ended had printed is there by then, even where others still hold its terminal."""
_BACKGROUND_MS = 200
"""How often it is looked whether we are in the foreground again."""


class Task(NamedTuple):
    """What is kept.

    Attributes:
        master: Descriptor of the script's terminal.
        terminal: That of the real one; not blocking.
        spool: That of the file that takes what the script prints.
        control: That of the socket to dlprof.
        keys: Whether keys are handed on.
        modes: Of the real terminal before dlprof drew on it, as `plain` gives them.
        live_modes: Those meanwhile.
    """

    master: int
    terminal: int
    spool: int
    control: int
    keys: bool
    modes: list[Any]
    live_modes: list[Any]

    def descriptors(self) -> tuple[int, ...]:
        """All descriptors, which the keeper must inherit."""
        return (self.master, self.terminal, self.spool, self.control)


class Keeper:
    """Moves bytes until the script's terminal is closed by all, and all was written.

    Args:
        task: What is kept.
    """

    def __init__(self, task: Task) -> None:
        self._master = task.master
        self._terminal = task.terminal
        self._spool = task.spool
        self._control = socket.socket(fileno=task.control)
        self._keys = task.keys
        self._modes = task.modes
        self._live_modes = task.live_modes
        self._typed = b""
        self._first = b""
        """What goes to the terminal before all else: it leaves dlprof's screen."""
        self._held = b""
        """What the spool did not take: it waits for the terminal."""
        self._spool_works = self._master_open = self._control_open = True
        self._entered = self._released = self._drained = False
        self._size = os.fstat(self._spool).st_size
        self._written = 0

    def run(self) -> None:
        """Until there is nothing left to do."""
        while self._control_open or self._master_open or self._waiting():
            self._turn()
            if self._drained:
                self._control.close()

    def _waiting(self) -> bool:
        """Whether something is still to be written to the terminal."""
        return self._released and (bool(self._first or self._held) or self._written < self._size)

    def _turn(self) -> None:
        wanted = self._wanted()
        poll = select.poll()
        for descriptor, events in wanted.items():
            poll.register(descriptor, events)
        ready = dict(poll.poll(self._timeout_ms(wanted)))
        if self._control_open and self._control.fileno() in ready:
            self._listen()
        if ready.get(self._master, 0) & (select.POLLIN | select.POLLHUP | select.POLLERR):
            self._read_master()
        if ready.get(self._master, 0) & select.POLLOUT:
            self._type()
        self._at_terminal(ready.get(self._terminal, 0))
        quiet = not ready
        if not (self._control_open or self._drained or self._waiting()) and (quiet or not self._master_open):
            self._tell(DONE)
            self._drained = True

    def _at_terminal(self, events: int) -> None:
        if events & (select.POLLERR | select.POLLHUP):
            self._keys = False
        if events and self._waiting():
            self._write()
        if events & select.POLLIN and self._keys:
            self._read_keys()

    def _wanted(self) -> dict[int, int]:
        wanted: dict[int, int] = {}
        if self._control_open:
            wanted[self._control.fileno()] = select.POLLIN
        if self._master_open:
            # While something waits that no spool takes, the script waits too, as at any slow terminal.
            wanted[self._master] = (0 if self._held else select.POLLIN) | (select.POLLOUT if self._typed else 0)
        terminal = select.POLLOUT if self._waiting() else 0
        if self._keys and (self._entered or self._released) and not self._typed and self._in_foreground():
            terminal |= select.POLLIN
        if terminal:
            wanted[self._terminal] = terminal
        return wanted

    def _timeout_ms(self, wanted: dict[int, int]) -> int | None:
        if not self._control_open and not self._drained:
            return _QUIET_MS
        return _BACKGROUND_MS if self._keys and not wanted.get(self._terminal, 0) else None

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return False

    # -- from dlprof -----------------------------------------------------------------------------------

    def _listen(self) -> None:
        try:
            orders = self._control.recv(64)
        except OSError:
            orders = b""
        for order in orders:
            if order in ENTERED + LEFT:
                self._entered = order in ENTERED
            elif order in RELEASE:
                self._release()
        if not orders:
            self._control_open = False
            self._keys = False
            self._release()
            self._restore_modes()

    def _release(self) -> None:
        if self._entered:
            self._entered = False
            self._first = LEAVE
        self._released = True

    def _restore_modes(self) -> None:
        """Give the terminal its modes back, unless someone else has set others meanwhile (a shell's prompt)."""
        try:
            if plain(termios.tcgetattr(self._terminal)) == self._live_modes:
                termios.tcsetattr(self._terminal, termios.TCSANOW, self._modes)
        except termios.error:
            pass

    def _tell(self, word: bytes) -> None:
        try:
            self._control.send(word)
        except OSError:
            pass

    # -- from the script -------------------------------------------------------------------------------

    def _read_master(self) -> None:
        try:
            data = os.read(self._master, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody holds the other end any more
            data = b""
        if not data:
            self._master_open = False
        elif self._spool_works:
            self._keep(data)
        else:
            self._held += data

    def _keep(self, data: bytes) -> None:
        try:
            while data:
                count = os.write(self._spool, data)
                self._size += count
                data = data[count:]
        except OSError:  # the disk is full
            self._spool_works = False
            self._held = data
            self._tell(FULL)

    def _write(self) -> None:
        """Write the next piece of what waits: what leaves the screen, the spool, the rest."""
        from_spool = not self._first and self._written < self._size
        try:
            data = self._first or (os.pread(self._spool, _CHUNK, self._written) if from_spool else self._held[:_CHUNK])
            count = os.write(self._terminal, data)
        except BlockingIOError:
            return
        except OSError:  # the terminal is gone
            self._written, self._held, self._first = self._size, b"", b""
            return
        if self._first:
            self._first = self._first[count:]
        elif from_spool:
            self._written += count
        else:
            self._held = self._held[count:]

    # -- from the keyboard -----------------------------------------------------------------------------

    def _read_keys(self) -> None:
        try:
            self._typed = os.read(self._terminal, 1024)
        except BlockingIOError:
            return
        except OSError as error:
            # In the background this is EIO, and will pass.
            self._keys = error.errno == errno.EIO and not self._in_foreground()

    def _type(self) -> None:
        try:
            self._typed = self._typed[os.write(self._master, self._typed) :]
        except BlockingIOError:
            return
        except OSError:
            self._typed, self._keys = b"", False


def plain(modes: list[Any]) -> list[Any]:
    """Modes of a terminal as numbers and lists, which JSON can carry."""
    return [*modes[:6], [code if isinstance(code, int) else code[0] for code in modes[6]]]


if __name__ == "__main__":
    Keeper(Task(**json.loads(sys.argv[1]))).run()
