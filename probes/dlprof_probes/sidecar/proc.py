"""Small files of /proc, read without a library: one opening each."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import NamedTuple

from dlprof_probes import masking

COMMAND_LENGTH = 300
_ROOM = 1 << 16
_WHOLE = 1024
"""A first reading that is shorter is all: the kernel fills a page of 4 kB or more before it gives away a part."""
_ENDED = (b"Z", b"X")
NOT_MOUNTED = "/proc is not mounted"
"""A clause, for what cannot be measured then."""


class Stat(NamedTuple):
    """What `/proc/PID/stat` says."""

    ended: bool
    """It is over, and waits for its parent to ask how it ended."""
    started: int
    """Clock ticks since the machine's start."""
    row: list[int]
    """[pid, ticks, rss in pages, threads, minor, major faults, ticks of ended children]."""


def read(path: str) -> bytes:
    """A file; empty where it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY)  # a file object takes as many calls of the kernel again
    except OSError:
        return b""
    try:
        text = more = os.read(file, _ROOM)
        while len(text) >= _WHOLE and more:
            more = os.read(file, _ROOM)
            text += more
    except OSError:
        return b""
    finally:
        os.close(file)
    return text


def is_mounted() -> bool:
    """Whether `/proc` is there: in some containers and under chroot it is not."""
    return os.path.exists("/proc/self/stat")  # noqa: PTH110  (pathlib takes longer to load than all of this)


def stat(pid: int) -> Stat | None:
    """What the kernel says of a process; None when it is gone."""
    words = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(words) < 22:
        return None
    used, of_children = int(words[11]) + int(words[12]), int(words[13]) + int(words[14])
    row = [pid, used, int(words[21]), int(words[17]), int(words[7]), int(words[9]), of_children]
    return Stat(words[0] in _ENDED, int(words[19]), row)


def command(pid: int, *, keep: bool) -> str | None:
    """The command line of a process, its secrets hidden unless `keep`; None: it has none, or is gone."""
    words = [word.decode("utf-8", "replace") for word in read(f"/proc/{pid}/cmdline").split(b"\0")]
    return " ".join(words if keep else masking.words(words)).strip()[:COMMAND_LENGTH] or None


def last_pid() -> bytes:
    """The number that was last given to a process or a thread of this machine, or container."""
    return read("/proc/loadavg").rpartition(b" ")[2]


def walk(
    pid: int, parent: int, tree: dict[int, int], most: int | None = None, passed_over: Collection[int] = ()
) -> None:
    """Add `pid` and its descendants to `tree` with their parents, through the kernel's own lists of children.

    Args:
        pid: Where to begin.
        parent: Its parent.
        tree: Process to parent; what is there already is not looked at again.
        most: The tree does not grow beyond so many processes; None: it may.
        passed_over: Processes that are left out, with what is below them.
    """
    waiting = [(pid, parent)]
    while waiting and (most is None or len(tree) < most):
        one, above = waiting.pop()
        if one in tree or one in passed_over or not os.path.exists(f"/proc/{one}"):  # noqa: PTH110  (hot)
            continue
        tree[one] = above
        waiting += [(child, one) for child in reversed(children(one))]


def children(pid: int) -> list[int]:
    """The children of all threads of a process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []
    return [int(word) for thread in threads for word in read(f"/proc/{pid}/task/{thread}/children").split()]
