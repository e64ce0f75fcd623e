"""What dlprof was started with, so that the script can be started with the same: ignored signals, mask, descriptors.

Python and the libraries that dlprof loads change some of it, so `at_start` is called first of all.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}
"""Every Python ignores these when it starts: what they were before is not to be known. `subprocess` sets them back."""


_OWNERS = 0o700


@dataclass(frozen=True)
class Inherited:
    """What one process hands to the next through `exec`.

    Attributes:
        ignored: Signals that are ignored (`nohup`, `trap ''`, `&` in a shell without job control); SIGPIPE and SIGXFSZ
            are never among them.
        blocked: Signals that are blocked.
        descriptors: Open descriptors above 2 (`3>log`, `<(command)`, sockets of a service manager).
        umask: Bits that new files lacked, where dlprof could not have used its own; None: they lack these still.
    """

    ignored: frozenset[int]
    blocked: frozenset[int]
    descriptors: tuple[int, ...]
    umask: int | None = None

    def still_open(self) -> tuple[int, ...]:
        """The descriptors that can be handed on."""
        return tuple(number for number in self.descriptors if _is_inheritable(number))


@cache
def at_start() -> Inherited:
    """What dlprof was started with; looked at once."""
    ignored = frozenset(
        int(number) for number in signal.valid_signals() - _PYTHONS_OWN if signal.getsignal(number) == signal.SIG_IGN
    )
    if signal.SIGCHLD in ignored:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else no exit code of any process that dlprof starts is known
    blocked = frozenset(int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    return Inherited(ignored, blocked, _descriptors(), _umask())


def _umask() -> int | None:
    """A umask that keeps files from their owner: those that dlprof makes are its owner's from here on all the same."""
    given = os.umask(0o077)
    os.umask(given & ~_OWNERS)
    return given if given & _OWNERS else None


def _descriptors() -> tuple[int, ...]:
    """All but the standard streams that a program started from here would have: Python's own are closed by then."""
    try:
        names = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    except OSError:
        return ()
    return tuple(sorted(number for number in names if number > 2 and _is_inheritable(number)))


def _is_inheritable(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:  # closed meanwhile
        return False
