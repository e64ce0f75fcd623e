"""The traced process and its descendants: who is there, since when, and who has ended.

The lists of children are read only where some process or thread was started on the machine since the last look, and
never for more than a small share of the time: a script that starts processes without end costs no more.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from dlprof_probes.sidecar import proc
from dlprof_probes.sidecar.jsonl import Writer

MOST = 128
"""Processes that are followed at one time; more are only counted."""
MOST_NAMED = 10_000
"""Processes of which is written that they came; more are only counted."""
_MOST_SEEN = 4096
"""A tree is not walked further."""
_TRUST_NS = 10_000_000_000
"""For so long nobody is taken to have come where the machine says that nothing was started."""
_SHARE = 0.002
"""Of a core's time, for walking: engines that start a thread for each call give cause for it always."""


@dataclass
class _Followed:
    parent: int
    started: int
    command: str | None
    looks: int = 0
    """At how many full looks it was there: the command that it was found with may be one before its `exec`."""


class Processes:
    """Follows the tree, and writes who came and who ended.

    Rows: `["p", time_ns, pid, parent_pid, command, false, start_ns]`: a process appeared, or has another command by
    now; `["p", time_ns, pid, parent_pid, null, true]`: it was found ended; `["n", time_ns, not_followed, not_named]`:
    how many there are beside those that are followed, and how many came in all that no row names.

    Args:
        writer: Takes the rows.
        pid: The traced process.
        conductor: The dlprof that waits for it.
        program: What dlprof started, where the traced process is below that: what else is below it is not dlprof's.
        keep_arguments: Whether command lines are written down as they are.
    """

    def __init__(
        self, writer: Writer, pid: int, conductor: int, *, program: int | None = None, keep_arguments: bool = False
    ) -> None:
        self._writer = writer
        self._pid = pid
        self._conductor = conductor
        self._program = pid if program is None else program
        self._keep_arguments = keep_arguments
        self._zero_ns = _machine_start_ns()
        self._tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        self._followed: dict[int, _Followed] = {}
        self._over: dict[int, int] = {}
        self._ending: list[tuple[int, proc.Stat | None]] = []
        self._beside: list[int] = []
        self._own: list[int] = []
        self._last_pid = b""
        self._next_walk_ns = self._trusted_until_ns = self._taken_ns = 0
        self._named = self._not_named = 0
        self._told = (0, 0)

    def look(self, now: int, *, fully: bool) -> None:
        """See who is there.

        Args:
            now: The moment (ns).
            fully: Read commands that may have changed, too.
        """
        last = proc.last_pid()
        is_new = last != self._last_pid and now >= self._next_walk_ns
        if not last or is_new or now >= self._trusted_until_ns:
            self._last_pid, self._trusted_until_ns = last, now + _TRUST_NS
            self._walk(now)
        if fully:
            self._tell_changed(now)

    def tree(self) -> list[int]:
        """The traced process and its descendants, as last seen."""
        return [*self._followed, *self._beside]

    def followed(self) -> list[int]:
        """Those of the tree whose figures are written."""
        return list(self._followed)

    @property
    def own(self) -> list[int]:
        """Processes of dlprof itself, as last seen."""
        return self._own

    def rows(self) -> list[list[int]]:
        """What each followed process has used: `Stat.row`; of one that has just ended its last figures."""
        rows = []
        for pid, one in self._followed.items():
            found = proc.stat(pid)
            if found is not None and found.started == one.started:
                rows.append(found.row)
            if found is None or found.ended or found.started != one.started:
                self._ending.append((pid, found))
        return rows

    def tell_ended(self, now: int) -> None:
        """Write which of them are over, behind their last figures."""
        while self._ending:
            self._end(now, *self._ending.pop())

    def _walk(self, now: int) -> None:
        begun_ns = time.thread_time_ns()  # not the clock's: on a full machine a walk waits far longer than it works
        own: dict[int, int] = {}
        tree: dict[int, int] = {}
        above = list(self._followed)
        proc.walk(self._pid, os.getppid(), tree, _MOST_SEEN)
        for pid in above:  # one whose parent has ended is another's child now
            proc.walk(pid, self._followed[pid].parent, tree, _MOST_SEEN)
        proc.walk(self._conductor, 0, own, _MOST_SEEN, () if self._conductor in tree else {*tree, self._program})
        if self._conductor in tree:  # dlprof runs below the traced process, not the other way round
            tree = {pid: parent for pid, parent in tree.items() if pid not in own}
        self._own = [pid for pid in own if pid not in tree]
        self._compare(now, tree)
        # The first walk loads and compiles what it uses: counted alone, it kept workers of a short run from being seen.
        taken_ns = time.thread_time_ns() - begun_ns
        self._next_walk_ns = now + int(min(taken_ns, self._taken_ns) / _SHARE)
        self._taken_ns = taken_ns

    def _compare(self, now: int, tree: dict[int, int]) -> None:
        for pid in [pid for pid in self._followed if pid not in tree]:
            self._end(now, pid, None)
        self._over = {pid: started for pid, started in self._over.items() if pid in tree}
        self._beside = []
        for pid, parent in tree.items():
            if pid not in self._followed:
                self._appears(now, pid, parent)
        told = len(self._beside), self._not_named
        if told != self._told:
            self._told = told
            self._writer.row(["n", now, *told])

    def _appears(self, now: int, pid: int, parent: int) -> None:
        found = proc.stat(pid)
        if found is None or self._over.get(pid) == found.started:
            return
        if len(self._followed) >= MOST:
            self._beside.append(pid)
            return
        if self._named >= MOST_NAMED:
            self._not_named += 1
            self._over[pid] = found.started
            return
        self._named += 1
        one = _Followed(parent, found.started, proc.command(pid, keep=self._keep_arguments))
        self._followed[pid] = one
        self._tell(now, pid, one)

    def _tell(self, now: int, pid: int, one: _Followed) -> None:
        start_ns = min(now, self._zero_ns + one.started * self._tick_ns)
        self._writer.row(["p", now, pid, one.parent, one.command, False, start_ns])

    def _tell_changed(self, now: int) -> None:
        for pid, one in self._followed.items():
            one.looks += 1
            if one.looks == 2:
                command = proc.command(pid, keep=self._keep_arguments)
                if command is not None and command != one.command:
                    one.command = command
                    self._tell(now, pid, one)

    def _end(self, now: int, pid: int, found: proc.Stat | None) -> None:
        one = self._followed.pop(pid)
        if found is not None and found.ended:
            self._over[pid] = found.started
        row: list[Any] = ["p", now, pid, one.parent, None, True]
        self._writer.row(row)


def _machine_start_ns() -> int:
    """The machine's start on the run's clock (ns), which does not go on while the machine sleeps."""
    return time.perf_counter_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
