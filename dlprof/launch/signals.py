"""Signals that come to dlprof while the script runs: they are the script's, so they are taken and passed on.

They are blocked and waited for. libc is called directly, because `signal.sigtimedwait` of CPython gives back memory
that was never written when it is interrupted past its deadline, as after SIGSTOP and SIGCONT. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterable, Iterator

from msgspec import Struct

from dlprof.launch import inherited

_LIBC = ctypes.CDLL(None, use_errno=True)
_WORDS = 128 // ctypes.sizeof(ctypes.c_ulong)
_WORD_BITS = 8 * ctypes.sizeof(ctypes.c_ulong)
_SENDER = 4 if ctypes.sizeof(ctypes.c_void_p) == 8 else 3
"""Where the sender stands in a `siginfo_t`, in words of 32 bits; number and code are the words 0 and 2."""
_NEVER = {signal.SIGKILL, signal.SIGSTOP}
JOB_CONTROL = frozenset({signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT})
KEYBOARD = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH, signal.SIGHUP, *JOB_CONTROL})
"""Signals that a terminal sends, always to a whole process group."""
_OWN = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT, signal.SIGCHLD})
"""What they mean to dlprof itself, where no script runs, stays as it is."""
_FAULTS = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS})


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class Arrived(Struct, frozen=True):
    """A signal that came.

    Attributes:
        number: Which.
        by_process: Whether a process sent it (`kill`), and not the kernel: a terminal, a limit, a timer.
        sender: That process; of the kernel's, 0 or nothing of use.
    """

    number: int
    by_process: bool
    sender: int

    @property
    def from_keyboard(self) -> bool:
        """Whether the terminal sent it, to all of its group in the foreground."""
        return not self.by_process and self.number in KEYBOARD

    @property
    def is_own(self) -> bool:
        """Whether dlprof brought it upon itself: it wrote into a pipe that nobody reads, or used up its own limits."""
        if self.number in (signal.SIGPIPE, signal.SIGXFSZ) and self.sender == os.getpid():
            return True
        return not self.by_process and self.number in (signal.SIGXCPU, signal.SIGXFSZ, signal.SIGPIPE)


class Taken:
    """The signals that are taken as long as the script runs.

    Those that dlprof inherited as ignored are left alone: the script ignores them too.

    Args:
        job_control: Also those by which a terminal stops a group: not where the script is in dlprof's group, but for
            Ctrl-Z, which the script may catch: `stop_too` where it did not.
    """

    def __init__(self, *, job_control: bool) -> None:
        start = inherited.at_start()
        left = _NEVER | start.ignored | (frozenset() if job_control else JOB_CONTROL - {signal.SIGTSTP})
        self.numbers = frozenset(int(number) for number in signal.valid_signals() - left) | {int(signal.SIGCHLD)}
        self._set = _sigset(self.numbers)
        self._before: set[int] = set()

    def begin(self) -> None:
        """From here on they wait to be taken."""
        self._before = {int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, self.numbers)}

    def wait(self, timeout_s: float) -> Arrived | None:
        """The next of them; None: there was none in that time (s), or something else interrupted the wait."""
        return _next(self._set, timeout_s)

    def end(self) -> None:
        """Each means again what it did. What has come for a script that is over is dropped."""
        # Those that dlprof would die of, too: they came while the script ran, and had it ended just before.
        while _next(self._set, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


@contextlib.contextmanager
def meant_for_script() -> Iterator[None]:
    """Signals that are the script's affair (SIGUSR1, SIGALRM, ...) do not end dlprof before and after it either.

    Those that come before it starts are passed on to it then; those that come after its end are dropped.
    """
    start = inherited.at_start()
    numbers = signal.valid_signals() - _NEVER - _OWN - _FAULTS - JOB_CONTROL - start.ignored - {signal.SIGPIPE}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        rest = _sigset(int(number) for number in numbers if number not in before)
        while _next(rest, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stop_too() -> None:
    """Stop as the script has at Ctrl-Z, so that the shell sees its job stopped; returns when it goes on."""
    os.kill(os.getpid(), signal.SIGTSTP)
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})  # here it stands
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def name(number: int) -> str:
    """What a signal is called; real-time ones by their distance from the first."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}" if number > signal.SIGRTMIN else f"signal {number}"


def _sigset(numbers: Iterable[int]) -> ctypes.Array[ctypes.c_ulong]:
    """A `sigset_t`: the bit n - 1 for signal n."""
    words = (ctypes.c_ulong * _WORDS)()
    for number in numbers:
        words[(number - 1) // _WORD_BITS] |= 1 << ((number - 1) % _WORD_BITS)
    return words


def _next(waited: ctypes.Array[ctypes.c_ulong], timeout_s: float) -> Arrived | None:
    info = (ctypes.c_int * 32)()
    whole = int(max(0.0, timeout_s))
    time = _Timespec(whole, int((max(0.0, timeout_s) - whole) * 1e9))
    number = _LIBC.sigtimedwait(ctypes.byref(waited), ctypes.byref(info), ctypes.byref(time))
    if number <= 0:
        return None
    return Arrived(number, info[2] <= 0, info[_SENDER])


def unblock() -> None:
    """Between fork and exec: a helper is not to inherit what dlprof blocks."""
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
