"""Open descriptors and threads of processes: how many, and, where they become more and more, what they are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dlprof_probes.sidecar import proc
from dlprof_probes.sidecar.jsonl import Writer

DESCRIPTORS, THREADS = "descriptors", "threads"
_MORE = 16, 1.25
"""So many more, and so many times as many as when they were last named, are named anew."""
_LOOKED_AT = 512
"""Of each, the newest ones: those of the largest numbers."""
_NAMED = 8
_NUMBERS = re.compile(r"(?<=[-_./])(?=[a-f]*\d)[0-9a-f]{6,}(?![0-9A-Za-z])|tmp\w{8}|\d+")
"""What differs between the names of things that are alike: counters, parts of hashes and of temporary names."""


class Handles:
    """Writes rows `["h", time_ns, pid, kind, count, looked_at, [[name, count] ...]]`, kind: descriptors or threads.

    Names are targets of descriptors and names of threads; numbers in them are `#`. Those that were looked at are the
    newest ones; only the commonest names are told.

    Args:
        writer: Takes the rows.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._named: dict[tuple[int, str], int] = {}

    def look(self, now: int, row: list[int]) -> int | None:
        """How many descriptors a process has open; None: the kernel does not tell.

        Args:
            now: The moment (ns).
            row: What the process has used (`proc.Stat.row`).
        """
        pid, threads = row[0], row[3]
        if self._has_more(pid, THREADS, threads):
            self._tell(now, pid, THREADS, threads, _threads(pid))
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
        except OSError:
            return None
        if self._has_more(pid, DESCRIPTORS, len(numbers)):
            self._tell(now, pid, DESCRIPTORS, len(numbers), _targets(pid, numbers))
        return len(numbers)

    def _has_more(self, pid: int, kind: str, count: int) -> bool:
        """Whether there are far more than when they were last named; the first ones are not named."""
        before = self._named.setdefault((pid, kind), count)
        return count >= before + _MORE[0] and count >= before * _MORE[1]

    def _tell(self, now: int, pid: int, kind: str, count: int, names: Iterable[str]) -> None:
        self._named[pid, kind] = count
        found = Counter(_NUMBERS.sub("#", name) for name in names)
        self._writer.row(["h", now, pid, kind, count, found.total(), [list(one) for one in found.most_common(_NAMED)]])


def _newest(numbers: Iterable[str]) -> list[int]:
    return sorted(map(int, numbers))[-_LOOKED_AT:]


def _targets(pid: int, numbers: Iterable[str]) -> Iterator[str]:
    for number in _newest(numbers):
        try:
            # As bytes: a name that is no UTF-8 would be a text that no table takes.
            yield os.readlink(b"/proc/%d/fd/%d" % (pid, number)).decode("utf-8", "replace")  # noqa: PTH115
        except OSError:  # closed meanwhile
            continue


def _threads(pid: int) -> Iterator[str]:
    try:
        numbers = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return
    for number in _newest(numbers):
        name = proc.read(f"/proc/{pid}/task/{number}/comm").strip()
        if name:
            yield name.decode("utf-8", "replace")
