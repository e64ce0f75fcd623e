"""A process that runs already: what it is, whether it may be looked at, what it has used, and when it ends.

Nothing here changes it: what is asked is in /proc, and of the kernel whether it has ended.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import select
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dlprof_probes.sidecar import proc

from dlprof.errors import NoInputError, UnavailableError, UsageError

_TAKE_A_VALUE = ("-W", "-X", "--check-hash-based-pycs")
"""Options of Python whose value is the next word."""
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_LIBRARY = b"libpython"
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")


@dataclass(frozen=True)
class Program:
    """What a process runs, by its command line.

    Attributes:
        words: The command line.
        folder: Its working directory; None: that may not be known.
        script: Path of the script that a Python runs; None: it runs none, or is no Python.
        module: The module that it runs (`python -m`).
        arguments: Those of the script, the module or the program.
    """

    words: Sequence[str]
    folder: Path | None
    script: Path | None
    module: str | None
    arguments: tuple[str, ...]

    @property
    def script_folder(self) -> Path:
        """Where files are that are the program's own."""
        return self.script.parent if self.script is not None else self.folder or Path("/")


class RunningProcess:
    """A process, which another one with the same number is not taken for.

    Args:
        pid: Its number.

    Raises:
        NoInputError: There is none, or it has ended already.
        UsageError: It is dlprof itself.
    """

    def __init__(self, pid: int) -> None:
        if pid == os.getpid():
            raise UsageError(f"Process {pid} is dlprof itself.")
        found = proc.stat(pid) if pid > 0 else None
        if found is None:
            raise NoInputError(f"There is no process {pid}.", hint="pgrep -af python lists those of Python")
        if found.ended:
            raise NoInputError(f"Process {pid} has ended: only its parent has still to take note of that.")
        self.pid = pid
        self._started = found.started
        self._handle = _handle(pid)
        self._used = self._times() or (0, 0)

    def has_ended(self) -> bool:
        """Whether it is over."""
        found = proc.stat(self.pid)
        return found is None or found.ended or found.started != self._started

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end, for so long at most; returns whether it has ended."""
        if self._handle is None:
            time.sleep(timeout_s)
        else:
            select.select([self._handle], [], [], timeout_s)
        return self.has_ended()

    def close(self) -> None:
        """Wait for it no more."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def used(self) -> tuple[int, int]:
        """CPU time in user mode and in the kernel since it was started (ns); once it has ended, as last seen."""
        self._used = self._times() or self._used
        return self._used

    def _times(self) -> tuple[int, int] | None:
        words = proc.read(f"/proc/{self.pid}/stat").rpartition(b")")[2].split()
        return (int(words[11]) * _TICK_NS, int(words[12]) * _TICK_NS) if len(words) > 12 else None

    def check_stacks(self) -> None:
        """Make sure that its memory may be read, by the same right that py-spy needs.

        Raises:
            UnavailableError: It may not.
        """
        try:
            os.close(os.open(f"/proc/{self.pid}/mem", os.O_RDONLY))
        except PermissionError:
            raise _refusal(self.pid) from None
        except OSError:  # it has ended just now: that is seen soon
            return

    def is_python(self) -> bool:
        """Whether it is an interpreter of Python, or has one in it."""
        with contextlib.suppress(OSError):
            if Path(f"/proc/{self.pid}/exe").readlink().name.startswith(("python", "pypy")):
                return True
        return _LIBRARY in proc.read(f"/proc/{self.pid}/maps")

    def program(self) -> Program:
        """What it runs."""
        words = [os.fsdecode(word) for word in proc.read(f"/proc/{self.pid}/cmdline").split(b"\0")[:-1]]
        folder = None
        with contextlib.suppress(OSError):
            folder = Path(f"/proc/{self.pid}/cwd").readlink()
        return described(words, folder, python=self.is_python())


def described(words: Sequence[str], folder: Path | None, *, python: bool) -> Program:
    """What a command line runs.

    Args:
        words: The command line.
        folder: The working directory.
        python: Whether it is one of Python, whose options come before its script.
    """
    rest = list(words[1:])
    while python and rest and rest[0].startswith("-") and rest[0] not in ("-", "-c", "-m"):
        del rest[: 2 if rest[0] in _TAKE_A_VALUE else 1]
    if not python or not rest or rest[0] in ("-", "-c"):
        return Program(words, folder, None, None, tuple(words[1:]))
    if rest[0] == "-m":
        return Program(words, folder, None, rest[1] if len(rest) > 1 else None, tuple(rest[2:]))
    return Program(words, folder, (folder or Path("/")) / rest[0], None, tuple(rest[1:]))


def _handle(pid: int) -> int | None:
    """What becomes readable when the process ends; None: this kernel has none."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _refusal(pid: int) -> UnavailableError:
    """Why the memory of a process may not be read, and the command that mends it."""
    program = f"{sys.executable} -m dlprof" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    again = f"sudo {program} attach {pid}"
    try:
        owner = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        owner = os.geteuid()
    if owner != os.geteuid():
        return UnavailableError(f"Process {pid} is {_user(owner)}'s, and only that user may look into it.", hint=again)
    scope = proc.read(str(_YAMA)).strip()
    if scope in (b"1", b"2"):
        text = (
            f"The kernel lets no other process look into process {pid} (kernel.yama.ptrace_scope is {scope.decode()})."
        )
        return UnavailableError(text, hint=again if scope == b"2" else "sudo sysctl kernel.yama.ptrace_scope=0")
    text = f"The right to look into process {pid} is missing; in a container that is CAP_SYS_PTRACE."
    return UnavailableError(text, hint=f"docker run --cap-add SYS_PTRACE ..., or {again}")


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
