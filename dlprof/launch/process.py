"""Starting the traced process and waiting for it: signals, exit status, nothing left behind.

Where there is a terminal the script shares dlprof's process group, so that Ctrl-C, Ctrl-Z, standard input and job
control work as without dlprof; the terminal sends its signals to both. Elsewhere (CI, cron, pipes) it has a group of
its own. A signal that comes to dlprof is passed on to the script, which decides what it means; only a second Ctrl-C at
the terminal ends the script and all it started. The script has the dispositions, mask and descriptors that dlprof was
started with. Linux only (sigtimedwait, prctl).
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from dlprof.errors import UnavailableError
from dlprof.launch import descendants, inherited, signals
from dlprof.launch.replaced import ImageWatch, Replaced
from dlprof.launch.signals import Arrived, Taken
from dlprof.launch.stops import Stop, Stops
from dlprof.launch.view import Streams

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_PTRACER = 0x59616D61
_GRACE_S = 3.0
_TICKS_SHARE = 0.0025
"""Of a core, for ticks."""
_SLOWEST_S = 0.5
_STOOD_NS = 500_000_000
"""Where it waits so much longer than it was to, dlprof was stopped itself."""


class Outcome(Struct, frozen=True):
    """How the traced process ended.

    Attributes:
        exit_code: Its exit code; None when a signal ended it.
        signal: The signal that ended it, else None.
        start_ns: Right before it was started, on the run's clock (ns).
        end_ns: When it was found to have ended.
        user_ns: CPU time in user mode (ns), of it and of its children that it waited for.
        system_ns: The same in the kernel.
        interrupts: How many times Ctrl-C, or SIGINT, came.
        left: Command lines of its descendants that were still running, by pid.
        killed: Whether dlprof ended it after a second Ctrl-C, SIGTERM was passed on to it, or it died of a signal that
            was.
        stops: The times in which it stood still.
        replaced: The program that it went on as (`exec`), if that was seen.
        went_on: Whether it had not ended at all: a Python that was followed may outlive the program.
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
    stops: tuple[Stop, ...] = ()
    replaced: Replaced | None = None
    went_on: bool = False

    @property
    def shell_code(self) -> int:
        """The code that dlprof ends with: the script's, or 128 + n for signal n."""
        return 128 + self.signal if self.signal else self.exit_code or 0


class Pace:
    """How long to wait for the next tick: on a machine that is full, what ticks take is taken from the script.

    Args:
        tick_s: At least so long (s).
    """

    def __init__(self, tick_s: float) -> None:
        self._tick_s = tick_s
        self._last_s = 0.0

    def after(self, cost_s: float) -> float:
        """The time to wait (s).

        Args:
            cost_s: CPU time of the last tick (s). One alone that was dear, to start a helper, changes nothing.
        """
        usual_s, self._last_s = min(cost_s, self._last_s), cost_s
        return min(_SLOWEST_S, max(self._tick_s, usual_s / _TICKS_SHARE))


@dataclass
class TracedProcess:
    """The traced process while it runs.

    Attributes:
        command: What is run.
        environment: Its environment variables.
        streams: Its standard streams.
        looked_at: Whether py-spy, a child of dlprof, is to look at its memory.
        start_ns: When it was started, on the run's clock (ns).
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    streams: Streams = field(default_factory=Streams)
    looked_at: bool = True
    start_ns: int = 0
    _popen: subprocess.Popen[bytes] | None = None
    _status: int | None = None
    _usage: tuple[int, int] = (0, 0)
    _shared: bool = False
    """Whether it is in dlprof's process group."""
    _interrupts: int = 0
    _from_keyboard: int = 0
    _passed_on: set[int] = field(default_factory=set)
    _ended_by_us: bool = False
    _deadline: float | None = None
    _stood_from_ns: int | None = None
    _stops: Stops = field(default_factory=Stops)
    _family: descendants.Descendants = field(default_factory=descendants.Descendants)
    _taken: Taken | None = None
    _image: ImageWatch | None = None

    def start(self) -> int:
        """Start it; returns its process number.

        Raises:
            UnavailableError: The interpreter cannot be started.
        """
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._shared = _has_terminal()
        self._taken = Taken(job_control=not self._shared)
        self._taken.begin()
        self.start_ns = time.perf_counter_ns()
        try:
            self._popen = self._launch()
        except OSError as error:
            self._taken.end()
            raise UnavailableError(f"{self.command[0]} cannot be started: {error.strerror}.") from error
        self._image = ImageWatch(self._popen.pid)
        return self._popen.pid

    def _launch(self) -> subprocess.Popen[bytes]:
        start, conductor = inherited.at_start(), os.getpid()
        return subprocess.Popen(
            list(self.command),
            env=dict(self.environment),
            preexec_fn=lambda: _in_child(start, conductor if self.looked_at else 0),
            process_group=None if self._shared else 0,
            pass_fds=start.still_open(),
            stdin=self.streams.input,
            stdout=self.streams.output,
            stderr=self.streams.error,
        )

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
        self._family.ignore(pid)

    def look_at_program(self) -> None:
        """See whether it is still the program of the first look; to be called once that has begun."""
        if self._image is not None:
            self._image.look(time.perf_counter_ns() - self.start_ns)

    def wait(self, tick: Callable[[], None], tick_s: float) -> Outcome:
        """Wait until it ends, with `tick` called every `tick_s` seconds, or less often where it takes long.

        Signals that arrive meanwhile are passed on. After a second Ctrl-C at the terminal the script and all it
        started are ended, politely first.
        """
        assert self._taken is not None  # noqa: S101  (it was started)
        assert self._image is not None  # noqa: S101
        self._wait(self._taken, tick, tick_s)
        end_ns = time.perf_counter_ns()
        self._stops.ended(end_ns - self.start_ns)
        code, by_signal = _decode(self._status or 0)
        killed = self._ended_by_us or by_signal in self._passed_on or signal.SIGTERM in self._passed_on
        left = self._left(end=killed or bool(self._interrupts))
        self._taken.end()
        return Outcome(
            exit_code=code,
            signal=by_signal,
            start_ns=self.start_ns,
            end_ns=end_ns,
            user_ns=self._usage[0],
            system_ns=self._usage[1],
            interrupts=self._interrupts,
            left=left,
            killed=killed,
            stops=tuple(self._stops.over),
            replaced=self._image.replaced,
        )

    def _wait(self, taken: Taken, tick: Callable[[], None], tick_s: float) -> None:
        pace = Pace(tick_s)
        next_tick = time.monotonic() + tick_s
        while not self._ended():
            arrived = self._next_signal(taken, max(0.0, next_tick - time.monotonic()))
            if arrived is not None and arrived.number != signal.SIGCHLD:
                self._on_signal(arrived)
            self._family.reap(self.pid)
            if time.monotonic() >= next_tick:
                before_s = time.thread_time()
                tick()
                next_tick = time.monotonic() + pace.after(time.thread_time() - before_s)
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._signal_tree(signal.SIGKILL)

    def _next_signal(self, taken: Taken, for_s: float) -> Arrived | None:
        """Wait for one; afterwards it is known whether dlprof was stopped meanwhile, and from when on at the latest."""
        due_ns = time.perf_counter_ns() + int(for_s * 1e9)
        arrived = taken.wait(for_s)
        self._stood_from_ns = due_ns if time.perf_counter_ns() - due_ns > _STOOD_NS else None
        return arrived

    def _left(self, *, end: bool) -> dict[int, str]:
        """What of it still runs. Where it was told to end that goes too, but for what made a session of its own."""
        left = self._family.running(self.pid)
        if end:
            # The traced process has ended, but it was in dlprof's session.
            descendants.end(descendants.in_session_of(left, os.getsid(0)), _GRACE_S)
            left = self._family.running(self.pid)
        return descendants.command_lines(left)

    # -- its state -----------------------------------------------------------------------------------

    def _ended(self) -> bool:
        """Whether it has ended; on the way, whether it was stopped or goes on."""
        while self._status is None:
            now_ns = time.perf_counter_ns()
            try:
                pid, status, usage = os.wait4(self.pid, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            except ChildProcessError:  # somebody in this process took it: how it ended is not known any more
                self._note_end(0, None)
                break
            if pid == 0:
                return False
            self._changed(status, usage, now_ns)
        return True

    def _changed(self, status: int, usage: resource.struct_rusage, now_ns: int) -> None:
        stood = self._stood_from_ns is not None
        from_ns = (now_ns if self._stood_from_ns is None else self._stood_from_ns) - self.start_ns
        if os.WIFSTOPPED(status):
            self._stops.stopped(os.WSTOPSIG(status), from_ns, is_least=stood)
            if self._shared and os.WSTOPSIG(status) == signal.SIGTSTP:
                signals.stop_too()
        elif os.WIFCONTINUED(status):
            self._stops.continued(from_ns, now_ns - self.start_ns)
        else:
            self._note_end(status, usage)

    def _note_end(self, status: int, usage: resource.struct_rusage | None) -> None:
        self._status = status
        if usage is not None:
            self._usage = int(usage.ru_utime * 1e9), int(usage.ru_stime * 1e9)
        assert self._popen is not None  # noqa: S101
        self._popen.returncode = os.waitstatus_to_exitcode(status)

    # -- signals -------------------------------------------------------------------------------------

    def _on_signal(self, arrived: Arrived) -> None:
        if arrived.is_own:
            return
        self._interrupts += arrived.number == signal.SIGINT
        self._from_keyboard += arrived.number == signal.SIGINT and arrived.from_keyboard
        self._passed_on.add(arrived.number)
        if self._from_keyboard > 1 and arrived.number == signal.SIGINT:
            self._ended_by_us = True
            self._signal_tree(signal.SIGTERM)
            self._deadline = time.monotonic() + _GRACE_S
        elif not (self._shared and _went_to_all(arrived)):
            self._send(arrived.number)

    def _send(self, number: int) -> None:
        if not self._ended():
            os.kill(self.pid, number)

    def _signal_tree(self, number: int) -> None:
        descendants.tell(self._family.running(self.pid), number)
        self._send(number)


def _went_to_all(arrived: Arrived) -> bool:
    """Whether the terminal has sent it to all of dlprof's group; its end it tells the session's leader alone."""
    to_leader = arrived.number in (signal.SIGHUP, signal.SIGCONT) and os.getsid(0) == os.getpid()
    return arrived.from_keyboard and not to_leader


def _has_terminal() -> bool:
    """Whether dlprof has a controlling terminal, in its foreground or not: job control moves it there and back."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:  # noqa: PTH123
            return os.tcgetpgrp(terminal.fileno()) > 0
    except OSError:
        return False


def _decode(status: int) -> tuple[int | None, int | None]:
    code = os.waitstatus_to_exitcode(status)
    return (None, -code) if code < 0 else (code, None)


def _prctl(option: int, value: int) -> None:
    _LIBC.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def _in_child(start: inherited.Inherited, tracer: int) -> None:
    """Between fork and exec: signals and umask as dlprof was started with, end with dlprof, let py-spy look.

    Args:
        start: What dlprof was started with.
        tracer: The process that may look, and with it what it has started, where Yama asks for leave; 0: none.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if tracer:
        _prctl(_PR_SET_PTRACER, tracer)
    if start.umask is not None:
        os.umask(start.umask)
    if signal.SIGCHLD in start.ignored:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if signal.SIGINT not in start.ignored:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would lose one that comes before the exec
    signal.pthread_sigmask(signal.SIG_SETMASK, start.blocked)
