"""Runs a dlprof of its own, so that nothing of this one is in the way, and ends it with this one."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import psutil

from dlprof.launch.descendants import ask, tell

_PR_SET_PDEATHSIG = 1
_GRACE_S = 15.0
_SETTLED_S = 1.0
"""After this time signals from before the start of a program have come."""


def run_to_end(
    command: Sequence[str],
    output: IO[bytes],
    *,
    limit_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> str | None:
    """Run a command to its end.

    Args:
        command: What to run.
        output: File that takes what it prints.
        limit_s: Seconds after which it is ended; None: never.
        environment: Its environment variables; None: those of this process.
        folder: Where it is run; None: here.

    Returns:
        Why it failed, or None.
    """
    # While Python forks, its own functions run that swallow what the handler of a signal raises: Ctrl-C would be lost.
    held = _Held()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            preexec_fn=functools.partial(_prepare, held.mask),
        )
    except BaseException:
        held.release()
        raise
    with process:
        try:
            held.release()
            code = _wait(process, limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"took more than {limit_s:g} s"
        except BaseException:
            _end(process)
            raise
    return f"exit code {code}" if code else None


def _wait(process: subprocess.Popen[bytes], limit_s: float | None) -> int:
    """Wait for the end; Ctrl-C that another thread takes a moment late is heeded.

    The kernel gives that thread what came while this one had it blocked. It does not wake this one from a wait without
    a limit; one with a limit looks up many times a second.
    """
    if limit_s is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_SETTLED_S)
    return process.wait(limit_s)


class _Held:
    """Ctrl-C and SIGTERM do nothing until they are let go.

    Here they are blocked; where another thread takes them, such as one of a library's, Python has their handlers run
    here all the same: so that these only note them meanwhile.

    Attributes:
        mask: Signals that were blocked before.
    """

    def __init__(self) -> None:
        numbers = (signal.SIGINT, signal.SIGTERM)
        self.mask = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        self._came: list[int] = []
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in numbers}
            self._handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
        for number in self._handlers:
            signal.signal(number, self._note)

    def _note(self, number: int, _frame: object) -> None:
        self._came.append(number)

    def release(self) -> None:
        """Let them go: what came meanwhile comes now."""
        try:
            self._undo()
        except BaseException:  # of a handler that is back, for what another thread took: the rest would stay blocked
            self._undo()
            raise
        for number in self._came:
            signal.raise_signal(number)

    def _undo(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)


def _prepare(mask: Iterable[int]) -> None:
    """In the child: block the signals that were blocked before, and end with the parent."""
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    _end_with_parent()


def _end_with_parent() -> None:
    """Have Linux end the run when this process is killed, so that it does not disturb the runs of the next one."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Have dlprof end the script and itself; a script that goes on all the same goes with it, and what it started."""
    process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        below: list[psutil.Process] = ask(psutil.Process(process.pid), lambda one: one.children(recursive=True), [])
        process.kill()
        tell(below, signal.SIGKILL)
        process.wait()  # after Ctrl-C `with` does not wait: it would be left as a zombie


def last_line(path: Path) -> str:
    """The last line that a command printed: mostly the reason why it failed."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"


@contextlib.contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end what is done inside as Ctrl-C does: the run that goes on is ended first."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGTERM)
    if before != signal.SIG_IGN:  # who started dlprof so wants it
        signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
