"""Starting the traced process and waiting for it: signals, exit status, nothing left behind.

At a terminal the script shares dlprof's process group, so that Ctrl-C, standard input and job control
work as without dlprof; the terminal sends its signals to both. Elsewhere (CI, cron, pipes) it has a group of
its own, and every signal that dlprof gets is passed on, whether it was meant for dlprof or for its group.
Linux only (sigtimedwait, prctl).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import psutil

from dlprof.errors import UnavailableError
from dlprof.launch.view import Streams

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_PTRACER = 0x59616D61
_PTRACER_ANY = ctypes.c_ulong(-1)
_WAITED = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
_SI_USER = 0
"""si_code of a signal that a process sent; those of the terminal carry another."""
_GRACE_S = 3.0


@dataclass(frozen=True)
class Outcome:
    """How the traced process ended.

    Attributes:
        exit_code: Its exit code; None when a signal ended it.
        signal: The signal that ended it, else None.
        start_ns: Right before it was started, on the run's clock (ns).
        end_ns: When it was found to have ended.
        user_ns: CPU time in user mode (ns), of it and of its children that it waited for.
        system_ns: The same in the kernel.
        interrupts: How many times Ctrl-C came.
        left: Command lines of its descendants that were still running, by pid.
        killed: Whether dlprof ended it, after a second Ctrl-C or at SIGTERM.
    """

    exit_code: int | None
    signal: int | None
    start_ns: int
    end_ns: int
    user_ns: int
    system_ns: int
    interrupts: int
    left: dict[int, str]
    killed: bool

    @property
    def shell_code(self) -> int:
        """The code that dlprof ends with: the script's, or 128 + n for signal n."""
        return 128 + self.signal if self.signal else self.exit_code or 0


@dataclass
class TracedProcess:
    """The traced process while it runs."""

    command: Sequence[str]
    environment: Mapping[str, str]
    streams: Streams = field(default_factory=Streams)
    start_ns: int = 0
    _popen: subprocess.Popen[bytes] | None = None
    _status: int | None = None
    _usage: tuple[int, int] = (0, 0)
    _interrupts: int = 0
    _killed: bool = False
    _deadline: float | None = None
    _others: set[int] = field(default_factory=set)
    _blocked: set[signal.Signals | int] = field(default_factory=set)

    def start(self) -> int:
        """Start it; returns its process number.

        Raises:
            UnavailableError: The interpreter cannot be started.
        """
        _prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1))
        self._blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED)
        group = None if _in_foreground() else 0
        self.start_ns = time.perf_counter_ns()
        try:
            self._popen = subprocess.Popen(
                list(self.command),
                env=dict(self.environment),
                preexec_fn=_in_child,
                process_group=group,
                stdin=self.streams.input,
                stdout=self.streams.output,
                stderr=self.streams.error,
            )
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
            raise UnavailableError(f"{self.command[0]} cannot be started: {error.strerror}.") from error
        return self._popen.pid

    @property
    def pid(self) -> int:
        """Its process number."""
        assert self._popen is not None  # noqa: S101
        return self._popen.pid

    @property
    def interrupts(self) -> int:
        """How many times Ctrl-C came so far."""
        return self._interrupts

    def ignore(self, pid: int) -> None:
        """`pid` is one of dlprof's own helpers: no descendant of the script."""
        self._others.add(pid)

    def wait(self, tick: Callable[[], None], tick_s: float) -> Outcome:
        """Wait until it ends, with `tick` called every `tick_s` seconds.

        Signals that arrive meanwhile are dealt with: the first Ctrl-C is the script's; a second one,
        SIGTERM or SIGHUP end the script and all it started, politely first.
        """
        end_ns = self._wait(tick, tick_s)
        left = self._descendants()
        if self._killed or self._interrupts:
            self._end_all(left)
            left = []
        code, by_signal = _decode(self._status or 0)
        names = {process.pid: _command_line(process) for process in left}
        signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
        user_ns, system_ns = self._usage
        return Outcome(
            code, by_signal, self.start_ns, end_ns, user_ns, system_ns, self._interrupts, names, self._killed
        )

    def _wait(self, tick: Callable[[], None], tick_s: float) -> int:
        while not self._ended():
            info = signal.sigtimedwait(_WAITED, tick_s)
            if info is not None and info.si_signo != signal.SIGCHLD:
                self._on_signal(info)
            elif info is None:
                tick()
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._signal_tree(signal.SIGKILL)
        return time.perf_counter_ns()

    def _ended(self) -> bool:
        if self._status is not None:
            return True
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return False
        self._status = status
        self._usage = int(usage.ru_utime * 1e9), int(usage.ru_stime * 1e9)
        assert self._popen is not None  # noqa: S101
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        return True

    def _on_signal(self, info: signal.struct_siginfo) -> None:
        number = signal.Signals(info.si_signo)
        if number == signal.SIGQUIT:  # the script has it too, and will end of it
            return
        if number == signal.SIGINT:
            self._interrupts += 1
            if self._interrupts == 1:
                if info.si_code == _SI_USER:  # sent to dlprof alone: the terminal sends it to both
                    self._send(signal.SIGINT)
                return
            number = signal.SIGTERM
        self._killed = True
        self._signal_tree(number)
        self._deadline = time.monotonic() + _GRACE_S

    def _send(self, number: int) -> None:
        if not self._ended():
            os.kill(self.pid, number)

    def _signal_tree(self, number: int) -> None:
        for process in self._descendants():
            _signal_one(process, number)
        self._send(number)

    def _descendants(self) -> list[psutil.Process]:
        """All processes that the script started and that still run.

        dlprof is their subreaper: those whose parent has ended become children of dlprof.
        """
        try:
            found = psutil.Process().children(recursive=True)
        except psutil.Error:
            return []
        helpers = {self.pid, *self._others}
        mine: list[psutil.Process] = []
        for process in found:
            parents = {p.pid for p in _parents(process)}
            if process.pid not in helpers and not parents & self._others and process.status() != psutil.STATUS_ZOMBIE:
                mine.append(process)
        return mine

    def _end_all(self, processes: list[psutil.Process]) -> None:
        for process in processes:
            _signal_one(process, signal.SIGTERM)
        _gone, alive = psutil.wait_procs(processes, timeout=_GRACE_S)
        for process in alive:
            _signal_one(process, signal.SIGKILL)


def _in_foreground() -> bool:
    """Whether dlprof runs in the foreground of a terminal."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:  # noqa: PTH123
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def _parents(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.parents()
    except psutil.Error:
        return []


def _signal_one(process: psutil.Process, number: int) -> None:
    try:
        process.send_signal(number)
    except psutil.Error:
        pass


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())[:200] or process.name()
    except psutil.Error:
        return "?"


def _decode(status: int) -> tuple[int | None, int | None]:
    code = os.waitstatus_to_exitcode(status)
    return (None, -code) if code < 0 else (code, None)


def _prctl(option: int, value: ctypes.c_ulong) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _in_child() -> None:
    """Between fork and exec: unblock signals, end with dlprof, let py-spy look (where yama asks for leave)."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED)
    _prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGTERM))
    _prctl(_PR_SET_PTRACER, _PTRACER_ANY)
