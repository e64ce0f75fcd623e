"""The keeper of the script's terminal (`keeper.py`) as dlprof sees it: started, told, listened to, replaced, ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

from dlprof.live import keeper

_END_S = 0.5
"""How long it may take to end, when nobody holds the terminal of the script any more."""


class KeeperProcess:
    """A running keeper, and the socket to it.

    Args:
        task: What it keeps; its `control` is made here.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, task: keeper.Task) -> None:
        self._task = task
        self._process, self._control = self._start()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def _start(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, its = socket.socketpair()
        ours.setblocking(False)
        task = self._task._replace(control=its.fileno())
        command = [sys.executable, "-I", "-S", keeper.__file__, json.dumps(task._asdict())]
        null = subprocess.DEVNULL
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            process = subprocess.Popen(command, pass_fds=task.descriptors(), stdin=null, stdout=null, stderr=null)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            its.close()
        return process, ours

    def tell(self, order: bytes) -> None:
        """Send it one of `keeper.ENTERED`, `LEFT` and `RELEASE`; one that is gone hears nothing."""
        with contextlib.suppress(OSError):
            self._control.send(order)

    def said(self) -> bytes | None:
        """What it says: `keeper.FULL`; nothing (b""): it is gone; None: it has not said anything."""
        try:
            return self._control.recv(64)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def replace(self) -> None:
        """Start another one in place of one that was killed."""
        self._control.close()
        self._process.wait()
        self._process, self._control = self._start()

    def finish(self) -> bool:
        """Wait until it has written all that there is; returns whether it did."""
        self._control.setblocking(True)
        said = b""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
            while keeper.DONE not in said:
                said = self._control.recv(64)
                if not said:
                    return False
        return keeper.DONE in said

    def end(self) -> int | None:
        """Wait for its end, for a while.

        Returns:
            Its CPU time (ns); None where others still hold the script's terminal, and it goes on for them.
        """
        deadline = time.monotonic() + _END_S
        while time.monotonic() < deadline:
            time.sleep(0.005)
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                return int((usage.ru_utime + usage.ru_stime) * 1e9)
        return None

    def close(self) -> None:
        """Close the socket."""
        self._control.close()
