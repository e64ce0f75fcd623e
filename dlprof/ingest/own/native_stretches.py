"""Stacks of threads of an engine, cut to the time for which the probe saw Python run on them.

A sampler does not say when such a thread has left Python. The probe in the process does, for calls that it knows
(`dlprof_probes.inproc.native_calls`): a stretch holds calls that follow each other closely, and says for how long of it
Python ran. Which function it was is the sampler's: what runs between two samples is told as the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.own.gone_threads import StackRow
from dlprof.schema.vocabulary import MAIN_THREAD

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Thread:
    """Stretches of a thread in order, none of which begins before the one before it ends (ns on the timeline)."""

    begins: _Numbers
    ends: _Numbers
    inside: _Numbers

    def cut(self, row: StackRow) -> Iterator[StackRow]:
        """The parts of a row in which Python ran: of each stretch as much as it ran there."""
        low, high = np.searchsorted(self.ends, row.start, "right"), np.searchsorted(self.begins, row.end, "left")
        for begin, end, inside in zip(
            *(x[low:high].tolist() for x in (self.begins, self.ends, self.inside)), strict=True
        ):
            start, stop = max(begin, row.start), min(end, row.end)
            dur = round((stop - start) * (inside / (end - begin)))
            if dur > 0:
                yield row._replace(start=start, dur=dur)


@dataclass(frozen=True)
class NativeStretches:
    """When Python ran on threads of an engine, in one process.

    Attributes:
        pid: The process.
        until: Up to when all is known (ns on the timeline); None: to the end of the process.
    """

    pid: int = 0
    until: int | None = None
    _threads: dict[int, _Thread] = field(default_factory=dict)

    def _knows(self, row: StackRow) -> bool:
        """Whether it is known for how long a stack can have stood."""
        if row.pid != self.pid or row.name == MAIN_THREAD:
            return False
        known = self._threads.get(row.thread)
        return known is not None and (self.until is None or row.start < known.ends[-1])

    def split(self, rows: Iterable[StackRow]) -> tuple[list[StackRow], list[StackRow]]:
        """Rows of which it is known for how long they stood, cut to that; and all others."""
        cut: list[StackRow] = []
        others: list[StackRow] = []
        for row in rows:
            if self._knows(row):
                cut.extend(self._threads[row.thread].cut(row))
            else:
                others.append(row)
        return cut, others


def of_stream(rows: Iterable[Sequence[Any]], origin_ns: int, pid: int, last_ns: int | None) -> NativeStretches:
    """Out of the records of a stream.

    Args:
        rows: Fields of `wire.STRETCH`, times on the process's clock (ns).
        origin_ns: Zero of the timeline on that clock.
        pid: The process.
        last_ns: Where the stream ends too early, its last time on that clock; None: it is complete.
    """
    by_thread: dict[int, list[tuple[int, int, int]]] = {}
    for thread, begin, end, inside in rows:
        if end > begin:
            by_thread.setdefault(thread, []).append((begin - origin_ns, end - origin_ns, inside))
    threads = {thread: _in_order(found) for thread, found in by_thread.items()}
    return NativeStretches(pid, None if last_ns is None else last_ns - origin_ns, threads)


def _in_order(found: list[tuple[int, int, int]]) -> _Thread:
    """Stretches of one thread; one that begins before another one has ended is damage, and left out."""
    kept: list[tuple[int, int, int]] = []
    for one in sorted(found):
        if not kept or one[0] >= kept[-1][1]:
            kept.append(one)
    begins, ends, inside = np.array(kept, np.int64).T
    return _Thread(begins, ends, inside)
