"""What the processes of the traced tree used together, each time they were sampled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Floats, Integers, integers
from dlprof.store.run import Run

COLUMNS = ("time_ns", "interval_ns", "cpu_pct", "rss_bytes")
"""Columns of the table `process_samples` that are looked at."""


@dataclass(frozen=True)
class Moments:
    """Sums over the processes that were sampled at one time, an array each.

    Attributes:
        time_ns: When (ns).
        interval_ns: Since the sample before, of the process with the longest (ns).
        cpu_pct: CPU over that interval, in percent of one core; NaN: of no process it was measured.
        rss_bytes: Resident memory (bytes); NaN: likewise.
    """

    time_ns: Integers
    interval_ns: Integers
    cpu_pct: Floats
    rss_bytes: Floats

    def __len__(self) -> int:
        return len(self.time_ns)


def of_run(run: Run) -> Iterator[Moments]:
    """The moments of a run, piece by piece."""
    return of_pieces(run.pieces("process_samples", COLUMNS))


def of_pieces(pieces: Iterable[pa.Table]) -> Iterator[Moments]:
    """The moments of the table `process_samples`, in which what was sampled at one time stands together."""
    held: pa.Table | None = None
    for piece in pieces:
        rows = piece.select(COLUMNS) if held is None else pa.concat_tables([held, piece.select(COLUMNS)])
        time = integers(rows["time_ns"])
        if len(time):
            last = int(np.flatnonzero(np.diff(time, prepend=time[0] - 1))[-1])  # the next piece may have more of it
            yield from _moments(rows.slice(0, last))
            held = rows.slice(last)
    if held is not None:
        yield from _moments(held)


def _moments(rows: pa.Table) -> Iterator[Moments]:
    time = integers(rows["time_ns"])
    if len(time):
        first = np.flatnonzero(np.diff(time, prepend=time[0] - 1))
        interval = np.maximum.reduceat(integers(rows["interval_ns"]), first)
        yield Moments(time[first], interval, *(_sums(rows[name], first) for name in ("cpu_pct", "rss_bytes")))


def _sums(column: pa.ChunkedArray, first: Integers) -> Floats:
    """Sums of what was measured; NaN where nothing was."""
    known = np.add.reduceat(pc.is_valid(column).to_numpy().astype(np.int64), first)
    sums = np.add.reduceat(pc.cast(pc.fill_null(column, 0), pa.float64()).to_numpy(), first)
    return np.where(known > 0, sums, np.nan)
