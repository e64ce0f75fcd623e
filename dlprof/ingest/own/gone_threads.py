"""Stacks of threads that came and went, cut to the time for which they can have stood.

py-spy writes what changed of a stack from one sample to the next. Of a thread that is gone it writes nothing: its
last stack seems to stand until the thread comes back, or until the end. That is so for threads of Python that have
ended, and each time that a thread of an engine (TensorFlow's for `py_function`) has called Python and returned. But
py-spy counts the stacks that it took, of all threads: what is left without the main thread's is how long the others
were there. Of threads of engines the probe in the process knows better, and their rows do not come here
(`native_stretches`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from dlprof.schema.vocabulary import MAIN_THREAD


class StackRow(NamedTuple):
    """A stack that a thread stood in; times in nanoseconds on the run's timeline."""

    thread: int
    name: str
    start: int
    dur: int
    stack: int
    pid: int = 0

    @property
    def of(self) -> tuple[int, int]:
        """Its process and thread."""
        return self.pid, self.thread

    @property
    def end(self) -> int:
        """When it seems to have ended (ns)."""
        return self.start + self.dur


def without_ended(rows: Sequence[StackRow], ends: Mapping[int, int], last_ns: int | None = None) -> list[StackRow]:
    """The rows of processes, cut where these ended.

    Args:
        rows: Any.
        ends: Process to its end (ns), of those that have ended.
        last_ns: Until when all others were looked at (ns); None: they are all over before.
    """
    kept = (row._replace(dur=min(row.end, ends.get(row.pid, last_ns or row.end)) - row.start) for row in rows)
    return [row for row in kept if row.dur > 0]


def cut(
    rows: Sequence[StackRow],
    unnamed: set[int],
    samples: int,
    errors: int,
    rate_hz: float,
    lasting: Container[int] | None = None,
) -> list[StackRow]:
    """The rows of a segment, those that may not have stood so long cut evenly, each to a sample at least.

    In doubt are all stacks of threads that Python gave no name, and the last one of each other thread but the main one.

    Args:
        rows: In order of time, by thread.
        unnamed: Numbers of threads without a name.
        samples: Stacks that py-spy took, of all threads.
        errors: Times at which it could take none.
        rate_hz: How often a second it looked.
        lasting: Processes of which it is known when they ended, or that they did not; None: all.
    """
    period = 1e9 / rate_hz
    last = {row.of: row for row in rows}

    def is_main(row: StackRow) -> bool:
        return row.name == MAIN_THREAD and (lasting is None or row.pid in lasting)

    doubtful = {row for row in rows if not is_main(row) and (row.thread in unnamed or last[row.of] is row)}
    if not doubtful:
        return list(rows)
    sure = sum(row.dur for row in rows if not is_main(row) and row not in doubtful)
    left = samples - max(0, _of_main([row for row in rows if is_main(row)]) / period - errors) - sure / period
    above = sum(max(0.0, row.dur / period - 1) for row in doubtful)
    share = min(1.0, max(0.0, (left - len(doubtful)) / above)) if above else 1.0
    return [_cut(row, share, period) if row in doubtful else row for row in rows]


def _of_main(rows: Sequence[StackRow]) -> int:
    """For how long main threads were looked at, those of all processes together (ns)."""
    main: dict[tuple[int, int], list[StackRow]] = {}
    for row in rows:
        main.setdefault(row.of, []).append(row)
    return sum(max(row.end for row in one) - min(row.start for row in one) for one in main.values())


def _cut(row: StackRow, share: float, period: float) -> StackRow:
    if row.dur <= period:
        return row
    return row._replace(dur=round(period + (row.dur - period) * share))
