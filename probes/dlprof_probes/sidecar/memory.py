"""Memory of processes as the kernel tells it: kinds of resident pages, swap, peaks, and the limits that hold.

The kinds stand in the `status` of the main thread, which is read for its switches anyway. Proportional and unique
sizes take the kernel a walk over all pages: they are read rarely, and the dearer that is, the more so.
"""

from __future__ import annotations

import os
import re
import time
from typing import NamedTuple

from dlprof_probes.sidecar import control_groups, proc

_STATUS = (b"RssAnon", b"RssFile", b"RssShmem", b"VmSwap", b"VmHWM", b"VmSize")
"""Lines of `status`, in the order of `Split`."""
_LINE = re.compile(rb"^(\w+):\s+(\d+) kB", re.MULTILINE)
_ROLLUP_EVERY_NS = 10_000_000_000
_ROLLUP_SHARE = 0.0005
"""Of the time, that may be spent on walks over pages."""
_NO_LIMIT = 1 << 60
"""Version 1 of control groups says a number beyond this where there is no limit."""


class Spent:
    """What a part of the work takes: `with spent: ...`, many times.

    Attributes:
        ns: CPU time of this thread so far (ns).
    """

    def __init__(self) -> None:
        self.ns = 0
        self._begun_ns = 0

    def __enter__(self) -> None:
        self._begun_ns = time.thread_time_ns()

    def __exit__(self, *_: object) -> None:
        self.ns += time.thread_time_ns() - self._begun_ns


class Split(NamedTuple):
    """Kinds of a process's memory (bytes); None: this kernel does not tell."""

    anonymous: int | None
    file: int | None
    shared: int | None
    """Shared memory and tmpfs."""
    swap: int | None
    peak: int | None
    """The most that was ever resident."""
    address_space: int | None


def split(status: bytes) -> Split:
    """The kinds, out of a `status` file."""
    told = {name: int(value) * 1024 for name, value in _LINE.findall(status)}
    return Split(*(told.get(name) for name in _STATUS))


class Rollups:
    """Proportional and unique sizes of processes, as often as they are cheap."""

    def __init__(self) -> None:
        self._next_ns = 0

    def read(self, pids: list[int]) -> dict[int, tuple[int | None, int | None]]:
        """(proportional, unique) bytes by process; empty: it is not yet time for them."""
        begun = time.perf_counter_ns()
        if begun < self._next_ns:
            return {}
        found = {pid: _rollup(pid) for pid in pids}
        ended = time.perf_counter_ns()
        self._next_ns = ended + max(_ROLLUP_EVERY_NS, int((ended - begun) / _ROLLUP_SHARE))
        return found


def _rollup(pid: int) -> tuple[int | None, int | None]:
    told: dict[bytes, int] = {}
    for name, value in _LINE.findall(proc.read(f"/proc/{pid}/smaps_rollup")):
        told[name] = int(value) * 1024
    unique = [told[name] for name in (b"Private_Clean", b"Private_Dirty") if name in told]
    return told.get(b"Pss"), sum(unique) if unique else None


class Limits:
    """What holds the memory of a process: its own limits, and that of its control group.

    Args:
        pid: The process.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._group = control_groups.folders(pid, "memory", lambda folder: _used(folder)[0] is not None)

    def row(self) -> list[int | None]:
        """[address space, data, control group's limit, what that uses, how many processes it killed, descriptors].

        Bytes, but for processes and descriptors.
        """
        text = proc.read(f"/proc/{self._pid}/limits")
        limit = min((found for folder in self._group if (found := _limit(folder)) is not None), default=None)
        used, killed = _used(self._group[0]) if self._group else (None, None)
        return [_own(text, b"address space"), _own(text, b"data size"), limit, used, killed, _own(text, b"open files")]


def _own(text: bytes, name: bytes) -> int | None:
    match = re.search(rb"^Max %s\s+(\d+)" % name, text, re.MULTILINE)
    return int(match[1]) if match else None


def _limit(folder: str) -> int | None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        text = proc.read(f"{folder}/{name}").strip()
        if text.isdigit() and int(text) < _NO_LIMIT:
            return int(text)
    return None


def _used(folder: str) -> tuple[int | None, int | None]:
    """What a group uses, and how many of its processes were killed for want of memory."""
    used = next((int(text) for text in map(proc.read, _usages(folder)) if text.strip().isdigit()), None)
    killed = None
    for name in ("memory.events", "memory.oom_control"):
        match = re.search(rb"^oom_kill (\d+)", proc.read(f"{folder}/{name}"), re.MULTILINE)
        killed = int(match[1]) if match else killed
    return used, killed


def _usages(folder: str) -> tuple[str, str]:
    return os.path.join(folder, "memory.current"), os.path.join(folder, "memory.usage_in_bytes")  # noqa: PTH118
