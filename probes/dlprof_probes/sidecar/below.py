"""Whether there is a Python below a process.

py-spy looks for one ten times a second, which costs as much as its samples. So it is told to look no further than the
process where nothing is below it and its cost has a limit; this file looks instead, twice a second at most, and only
where a process was started on the machine. Standard library only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection

from dlprof_probes.sidecar import proc

_LOOK_NS = 500_000_000
_REST = 1000
"""So many times as long as a look took none is taken: looks take no more than a thousandth of a core."""
_MOST_SEEN = 300


class PythonBelow:
    """Looks for Pythons below a process.

    Args:
        pid: The process.
        apart: Gives those that are sampled on their own: neither they nor what is below them is looked for.
    """

    def __init__(self, pid: int, apart: Callable[[], Collection[int]] = frozenset) -> None:
        self._pid = pid
        self._apart = apart
        self._last_pid = b""
        self._next_look_ns = 0
        self._seen: frozenset[int] = frozenset()

    def has_come(self) -> bool:
        """Whether one is there that was there at the last look too: a fork that becomes another program is none."""
        now = time.perf_counter_ns()
        if now < self._next_look_ns:
            return False
        self._next_look_ns = now + _LOOK_NS
        last = proc.last_pid()
        if last and last == self._last_pid and not self._seen:
            return False
        self._last_pid = last
        before, self._seen = self._seen, self._pythons()
        return bool(before & self._seen)

    def are_all_apart(self) -> bool:
        """Whether there were Pythons below it, and each of them is sampled on its own by now."""
        now = time.perf_counter_ns()
        if now < self._next_look_ns or not self._apart():
            return False
        self._next_look_ns = now + _LOOK_NS
        self._seen = self._pythons()
        return not self._seen

    def is_needed(self) -> bool:
        """Whether a look at the process alone would miss something: others are there, or it is no Python itself."""
        return not is_python(self._pid) or bool(self._pythons())

    def _pythons(self) -> frozenset[int]:
        tree: dict[int, int] = {}
        before_ns = time.thread_time_ns()
        proc.walk(self._pid, 0, tree, _MOST_SEEN, self._apart())
        rest_ns = _REST * (time.thread_time_ns() - before_ns)
        self._next_look_ns = max(self._next_look_ns, time.perf_counter_ns() + rest_ns)
        return frozenset(pid for pid in tree if pid != self._pid and is_python(pid))


def is_python(pid: int) -> bool:
    """Whether a process runs a Python interpreter, by the name of its program."""
    try:
        name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))  # noqa: PTH115, PTH119
    except OSError:  # it has ended meanwhile
        return False
    return name.startswith(("python", "pypy"))
