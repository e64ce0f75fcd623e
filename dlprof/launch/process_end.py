"""When and how processes end whose parent is another program.

A thread waits for all of them. Right at its end a process is a zombie, which can be asked as long as its parent has not
been; Linux 6.15 tells it later too. What neither tells, the process may have left itself (`inproc/exit_status.py`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import threading
import time
from pathlib import Path

from dlprof_probes.sidecar import proc
from msgspec import Struct

from dlprof.schema.vocabulary import NO_EXIT_CODE

_GET_INFO = (3 << 30) | (64 << 16) | (0xFF << 8) | 11
"""PIDFD_GET_INFO, of a `struct pidfd_info` of 64 bytes."""
_EXIT = 1 << 3
_EXIT_CODE = 49
"""Place of the exit status in `/proc/PID/stat`, behind the name. Of another user's process the kernel puts 0 there."""
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_CLOSE_S = 1.0


class End(Struct, frozen=True):
    """How a process ended; None: not known."""

    time_ns: int
    """When that was seen, on the run's clock."""
    status: int | None
    """As `waitpid` gives it."""

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None: a signal ended it, or it is not known."""
        code = os.waitstatus_to_exitcode(self.status) if self.status is not None else None
        return code if code is not None and code >= 0 else None

    @property
    def signal(self) -> int | None:
        """The signal that ended it."""
        code = os.waitstatus_to_exitcode(self.status) if self.status is not None else None
        return -code if code is not None and code < 0 else None


class Watched:
    """A process whose end is waited for.

    Args:
        pid: Its number.
        left: File in which it leaves its exit code.

    Raises:
        OSError: There is no such process any more, or this kernel cannot tell its end.
    """

    def __init__(self, pid: int, left: Path) -> None:
        self.pid = pid
        self.handle = os.pidfd_open(pid)
        self.end: End | None = None
        self.used_ns = (0, 0)
        """CPU time in user mode and in the kernel, as last seen."""
        self._left = left
        self.look()

    def look(self) -> list[bytes]:
        """See what it has used; returns what the kernel says of it."""
        words = proc.read(f"/proc/{self.pid}/stat").rpartition(b")")[2].split()
        if len(words) > 12:
            self.used_ns = int(words[11]) * _TICK_NS, int(words[12]) * _TICK_NS
        return words

    def ended(self) -> None:
        """It is over: see how."""
        now, words = time.perf_counter_ns(), self.look()
        ours = len(words) > _EXIT_CODE and words[0] == b"Z" and self._is_ours()
        self.end = End(now, int(words[_EXIT_CODE]) if ours else self._told())

    def _is_ours(self) -> bool:
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}").stat().st_uid == os.geteuid()
        return False

    def settle(self) -> None:
        """Ask once more how it ended, if that is not known: its parent may have been asked meanwhile."""
        if self.end is not None and self.end.status is None:
            self.end = End(self.end.time_ns, self._told())
        if self.end is not None and self.end.status is None:
            self.end = End(self.end.time_ns, left_status(self._left))

    def _told(self) -> int | None:
        info = bytearray(struct.pack("<QQ", _EXIT, 0).ljust(64, b"\0"))
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.handle, _GET_INFO, info)
            mask, status = struct.unpack_from("<Q", info)[0], struct.unpack_from("<i", info, 60)[0]
            return int(status) if mask & _EXIT else None
        return None

    def close(self) -> None:
        """It is not waited for any more."""
        os.close(self.handle)


def left_status(left: Path) -> int | None:
    """What a process left itself of its exit, as `waitpid` gives it; None: nothing."""
    with contextlib.suppress(OSError):
        word = left.read_bytes()[: len(NO_EXIT_CODE)]
        return (word[0] << 8) if len(word) == len(NO_EXIT_CODE) and word != NO_EXIT_CODE else None
    return None


class Ends:
    """Waits for the end of processes, on a thread."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._wake, self._woken = os.pipe()
        self._poll.register(self._wake, select.POLLIN)
        self._by_handle: dict[int, Watched] = {}
        self._thread: threading.Thread | None = None

    def watch(self, one: Watched) -> None:
        """Wait for this one too."""
        self._by_handle[one.handle] = one
        self._poll.register(one.handle, select.POLLIN)
        if self._thread is None:
            self._thread = threading.Thread(target=self._go, daemon=True)
            self._thread.start()
        else:
            os.write(self._woken, b"+")

    def _go(self) -> None:
        while True:
            for handle, _ in self._poll.poll():
                if handle != self._wake:
                    self._poll.unregister(handle)
                    self._by_handle[handle].ended()
                elif b"." in os.read(self._wake, 4096):
                    return

    def close(self) -> None:
        """Wait no more; what has ended says how, as far as that is known by now."""
        if self._thread is not None:
            os.write(self._woken, b".")
            self._thread.join(_CLOSE_S)
        for one in self._by_handle.values():
            if one.end is None and _is_over(one.handle):  # just now: the thread did not come to it
                one.ended()
            one.settle()
            one.close()
        os.close(self._wake)
        os.close(self._woken)


def _is_over(handle: int) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))
