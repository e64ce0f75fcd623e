"""Cuts a large trace into segments of time, so that memory does not grow with the trace.

A cut lies where no operator and no call runs on any thread of the host, so nothing that is nested is taken
apart. Kernels go with the call that launched them, wherever they ran; ranges that reach over a cut are context in
the segments after it. The rows wait in files meanwhile: `Trace` writes them when they become many, and here they
are sorted into one file per segment.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.ingest.kernels.trace import COLUMNS, NONE, Integers, Kind, Trace

SEGMENT_EVENTS = 1_000_000
"""Events of a segment, about."""
_BINS = 1 << 16
_HOST = (Kind.OPERATOR, Kind.RUNTIME, Kind.WAIT)
_RANGES = (Kind.ANNOTATION, Kind.PYTHON)
Columns = dict[str, npt.NDArray[Any]]


def of(trace: Trace) -> Iterator[Columns]:
    """The events of a trace, segment by segment; `context` marks rows that were in a segment before."""
    if trace.size <= 1.5 * SEGMENT_EVENTS or trace.engine == "mxnet":
        yield _with_context(trace.columns())
        return
    cuts, launches = _survey(trace)
    with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:
        files = _Files(Path(folder), len(cuts) + 1)
        for chunk in trace.chunks():
            _sort_in(chunk, cuts, launches, files)
        trace.clear()
        for number in range(len(cuts) + 1):
            columns = files.read(number)
            if len(columns["start"]):
                yield columns


def _with_context(columns: Columns) -> Columns:
    return {**columns, "context": np.zeros(len(columns["start"]), bool)}


def _survey(trace: Trace) -> tuple[Integers, tuple[Integers, Integers]]:
    """Where to cut (ns), and the calls that launch: (links in order, start of each)."""
    first, last = trace.first_ns or 0, trace.last_ns or 0
    width = (last - first) // _BINS + 1
    covered, count = np.zeros(_BINS + 2, np.int64), np.zeros(_BINS + 1, np.int64)
    links, starts = [], []
    for chunk in trace.chunks():
        begin = chunk["start"] - first
        count += np.bincount(begin // width, minlength=_BINS + 1)[: _BINS + 1]
        host = np.isin(chunk["kind"], _HOST) & (chunk["dur"] > 0)
        low, high = begin[host] // width + 1, (begin[host] + chunk["dur"][host] - 1) // width
        inside = high >= low
        np.add.at(covered, low[inside], 1)
        np.add.at(covered, np.minimum(high[inside], _BINS) + 1, -1)
        calls = np.isin(chunk["kind"], (Kind.RUNTIME, Kind.WAIT)) & (chunk["link"] > NONE)
        links.append(chunk["link"][calls])
        starts.append(chunk["start"][calls])
    quiet = np.flatnonzero(np.cumsum(covered)[: _BINS + 1] == 0)
    cuts = _cuts(quiet, np.concatenate(([0], np.cumsum(count))))
    link, start = np.concatenate(links), np.concatenate(starts)
    order = np.argsort(link, kind="stable")
    return first + cuts * width, (link[order], start[order])


def _cuts(quiet: Integers, before: Integers) -> Integers:
    """The quiet places nearest behind each full segment; `before`: events before each place."""
    found: list[int] = []
    done = 0
    for place in quiet[quiet > 0].tolist():
        if before[place] - done >= SEGMENT_EVENTS and before[-1] > before[place]:
            found.append(place)
            done = int(before[place])
    return np.asarray(found, np.int64)


def _sort_in(chunk: Columns, cuts: Integers, launches: tuple[Integers, Integers], files: _Files) -> None:
    """Write the rows of a chunk to the files of their segments."""
    links, starts = launches
    time = chunk["start"].copy()
    device = np.flatnonzero(np.isin(chunk["kind"], (Kind.KERNEL, Kind.TRANSFER)) & (chunk["link"] > NONE))
    if len(device) and len(links):
        at = np.minimum(np.searchsorted(links, chunk["link"][device]), len(links) - 1)
        same = links[at] == chunk["link"][device]
        time[device[same]] = starts[at[same]]
    segment = np.searchsorted(cuts, time, "right")
    end = np.searchsorted(cuts, chunk["start"] + chunk["dur"], "left")
    reaching = np.isin(chunk["kind"], _RANGES) & (end > segment)
    for number in np.unique(np.concatenate((segment, end[reaching]))).tolist():
        own = segment == number
        files.write(number, {name: chunk[name][own] for name in COLUMNS}, context=False)
    for number in range(int(segment.min()) + 1, int(end[reaching].max(initial=0)) + 1):
        over = reaching & (segment < number) & (end >= number)
        files.write(number, {name: chunk[name][over] for name in COLUMNS}, context=True)


class _Files:
    """One file of rows per segment."""

    def __init__(self, folder: Path, count: int) -> None:
        self._paths = [folder / f"{number}.npy" for number in range(count)]
        self._parts = [0] * count

    def write(self, number: int, columns: Columns, *, context: bool) -> None:
        """Add rows to a segment."""
        size = len(columns["start"])
        if size:
            with self._paths[number].open("ab") as target:
                for name in COLUMNS:
                    np.save(target, columns[name])
                np.save(target, np.full(size, context))
            self._parts[number] += 1

    def read(self, number: int) -> Columns:
        """All rows of a segment; its file is removed."""
        names = (*COLUMNS, "context")
        parts: dict[str, list[npt.NDArray[Any]]] = {name: [np.empty(0, np.int64)] for name in names}
        if self._parts[number]:
            with self._paths[number].open("rb") as source:
                for _ in range(self._parts[number]):
                    for name in names:
                        parts[name].append(np.load(source))
            self._paths[number].unlink()
        return {name: np.concatenate(parts.pop(name)[1:] or [np.empty(0, np.int64)]) for name in names}
