"""Stacks of threads that came and went, cut to the time for which they can have stood.

py-spy writes what changed of a stack from one sample to the next. Of a thread that is gone it writes nothing: its
last stack seems to stand until the thread comes back, or until the end. That is so for threads of Python that have
ended, and each time that a thread of an engine (TensorFlow's for `py_function`) has called Python and returned. But
py-spy counts the stacks that it took, of all threads: what is left without the main thread's is how long the others
were there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

MAIN = "MainThread"


class StackRow(NamedTuple):
    """A stack that a thread stood in; times in nanoseconds on the run's timeline."""

    thread: int
    name: str
    start: int
    dur: int
    stack: int

    @property
    def end(self) -> int:
        """When it seems to have ended (ns)."""
        return self.start + self.dur


def cut(rows: Sequence[StackRow], unnamed: set[int], samples: int, errors: int, rate_hz: float) -> list[StackRow]:
    """The rows of a segment, those that may not have stood so long cut evenly, each to a sample at least.

    In doubt are all stacks of threads that Python gave no name, and the last one of each other thread but the main one.

    Args:
        rows: In order of time, by thread.
        unnamed: Numbers of threads without a name.
        samples: Stacks that py-spy took, of all threads.
        errors: Times at which it could take none.
        rate_hz: How often a second it looked.
    """
    period = 1e9 / rate_hz
    last = {row.thread: row for row in rows}
    doubtful = {row for row in rows if _is_doubtful(row, last, unnamed)}
    if not doubtful:
        return list(rows)
    sure = sum(row.dur for row in rows if row.name != MAIN and row not in doubtful)
    left = samples - max(0, _of_main(rows) / period - errors) - sure / period
    above = sum(max(0.0, row.dur / period - 1) for row in doubtful)
    share = min(1.0, max(0.0, (left - len(doubtful)) / above)) if above else 1.0
    return [_cut(row, share, period) if row in doubtful else row for row in rows]


def _is_doubtful(row: StackRow, last: Mapping[int, StackRow], unnamed: set[int]) -> bool:
    return row.name != MAIN and (row.thread in unnamed or last[row.thread] is row)


def _of_main(rows: Sequence[StackRow]) -> int:
    """For how long the main thread was looked at, or those of several processes together (ns)."""
    main: dict[int, list[StackRow]] = {}
    for row in rows:
        if row.name == MAIN:
            main.setdefault(row.thread, []).append(row)
    return sum(max(row.end for row in one) - min(row.start for row in one) for one in main.values())


def _cut(row: StackRow, share: float, period: float) -> StackRow:
    if row.dur <= period:
        return row
    return row._replace(dur=round(period + (row.dur - period) * share))
