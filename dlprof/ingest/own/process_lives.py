"""The processes of a run, each from its first sight to its last, out of the sampler's rows: table `processes`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dlprof.ingest.artifact import ProcessId
from dlprof.schema.vocabulary import ProcessRole

_WITH_START = 7
"""Length of the row of a process that appears; an older dlprof did not tell its start."""
_GRAIN_NS = 100_000_000
"""Starts are known to a clock tick: one that lies further before the run was before it."""
_READ, _WRITTEN = 3, 4
"""Places of the bytes in what is told of a process once a second."""


@dataclass
class _Life:
    parent: int
    command: str | None
    start_ns: int
    end_ns: int | None = None
    was_there: bool = False
    """Whether it was there before the run began: what it had used until then is not the run's."""
    ticks_before: int = 0
    read_before: int = 0
    written_before: int = 0
    ticks: int | None = None
    pages: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None


class ProcessLives:
    """Every process that the sampler has told of; a number that is given anew is another process.

    Args:
        process: The run's process.
        traced: Its number, as the sampler has it.
        tick_ns: A clock tick (ns).
        page_bytes: A page of memory.
    """

    def __init__(self, process: ProcessId, traced: int, tick_ns: int, page_bytes: int) -> None:
        self._process = process
        self._traced = traced
        self._tick_ns = tick_ns
        self._page_bytes = page_bytes
        self._lives: list[tuple[int, _Life]] = []
        self._there: dict[int, _Life] = {}
        self.uncounted = (0, 0)
        """Most processes at a time that were not followed, and all that were never named."""

    def appears_or_ends(self, row: list[Any]) -> None:
        """A row `p`: a process was first seen, has another command by now, or was found ended."""
        _, time_ns, pid, parent, command, ended, *start = row
        if ended:
            life = self._there.pop(pid, None)
            if life is not None:
                life.end_ns = self._at(time_ns)
        elif pid in self._there and len(row) >= _WITH_START:
            self._there[pid].command = command
        else:
            start_ns = self._at(start[0] if start else time_ns)
            was_there = start_ns < -_GRAIN_NS
            life = _Life(parent, command, 0 if pid == self._traced else start_ns, was_there=was_there)
            self._there[pid] = life
            self._lives.append((pid, life))

    def beside(self, row: list[Any]) -> None:
        """A row `n`: how many processes are not followed."""
        _, _, not_followed, not_named = row
        self.uncounted = max(self.uncounted[0], not_followed), max(self.uncounted[1], not_named)

    def sampled(self, row: list[Any]) -> None:
        """A row `c`: ticks and memory of each process."""
        for pid, ticks, pages, *_ in row[4]:
            life = self._there.get(pid)
            if life is None:
                continue
            if life.ticks is None and life.was_there:
                life.ticks_before = ticks
            life.ticks = ticks
            if pages:  # one that is over has given its memory back already
                life.pages = max(life.pages or 0, pages)

    def told(self, row: list[Any]) -> None:
        """A row `m`: counters of each process."""
        for counters in row[6]:
            life = self._there.get(counters[0])
            if life is not None and len(counters) > _WRITTEN and counters[_READ] is not None:
                if life.read_bytes is None and life.was_there:
                    life.read_before, life.written_before = counters[_READ], counters[_WRITTEN]
                life.read_bytes, life.write_bytes = counters[_READ], counters[_WRITTEN]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table `processes`."""
        for pid, life in self._lives:
            yield {
                **self._process.columns,
                "pid": pid,
                "parent_pid": life.parent,
                "role": ProcessRole.MAIN if pid == self._traced else ProcessRole.CHILD,
                "command": life.command,
                "start_ns": life.start_ns,
                "end_ns": life.end_ns,
                "cpu_ns": None if life.ticks is None else (life.ticks - life.ticks_before) * self._tick_ns,
                "peak_rss_bytes": None if life.pages is None else life.pages * self._page_bytes,
                "read_bytes": None if life.read_bytes is None else life.read_bytes - life.read_before,
                "write_bytes": None if life.write_bytes is None else life.write_bytes - life.written_before,
            }

    def _at(self, time_ns: int) -> int:
        return time_ns - self._process.origin_ns
