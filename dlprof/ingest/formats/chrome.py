"""Reads traces in Chrome's format of no maker that dlprof knows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from dlprof.ingest.formats import own_exports
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels import by_process
from dlprof.ingest.kernels.by_process import NAME_AT_MOST, PROCESSES_AT_MOST, REST
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns, judge_unpaired, thread_number
from dlprof.ingest.parse.open_events import OpenEvents
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import MarkSort
from dlprof.schema.vocabulary import EventKind

_RANGES = (MarkSort.NUMBERED_STEP, MarkSort.STEP, MarkSort.OPTIMISER, MarkSort.EPOCH)
_WAITS = re.compile(
    r"(?:[\w<>]+[.:/])*(?:wait(?:_\w+|[A-Z]\w*)?|await|sleep|idle|acquire|epoll|poll|select)(?:\s*\(.*\))?"
    r"|(?:[\w<>]+[.:])*\w*(?:Process|Thread)\.join(?:\s*\(.*\))?|wait(?:ing)? for .*|.*\(wait for [^()]*\)"
    r"|.*\w+Synchronize",
    re.IGNORECASE,
)
"""Names of what only waits: `time.sleep`, `Lock.acquire`, `Thread.join`, `wait for batch`."""
_CATEGORIES = {
    "wait": EventKind.WAIT,
    "input": EventKind.INPUT,
    "runtime": EventKind.RUNTIME,
    "phase": EventKind.ANNOTATION,
    "window": EventKind.ANNOTATION,
    "annotation": EventKind.ANNOTATION,
}
"""Categories that say what an event is, such as those of dlprof's own export."""


def claims(sample: Sample) -> bool:
    """Whether a file looks like a trace at all."""
    head = sample.chrome
    return head is not None and bool(head.events or head.keys)


def read(path: Path) -> FileContent:
    """Complete events, and pairs of begin and end, as operators of the host; each process is a trace of its own.

    Those whose names say that they are whole steps, epochs or updates are ranges around operators: they do no work.
    Nor do those that say that they wait.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    processes = _Processes(path)
    open_: OpenEvents[Event] = OpenEvents()
    passed_over = PassedOver()
    for piece in source.pieces():
        for event in piece:
            key = (event.pid, event.tid)
            if event.ph == "X":
                processes.add(event, event.ts + max(0.0, event.dur))
            elif event.ph == "B":
                open_.begin(key, event)
            elif event.ph == "E" and (begun := open_.end(key)):
                processes.add(begun, event.ts)
            elif event.ph == "M":
                processes.name(event)
            elif event.ph != "E":
                passed_over.add(event)
        processes.flush()
    traces = processes.traces()
    first = traces[0]
    judge_unpaired(first, open_.unpaired)
    passed_over.tell(first)
    source.judge(first)
    _tell_of_own(first, source.top)
    return FileContent.of_processes(traces)


def _tell_of_own(trace: Trace, top: Mapping[str, Any]) -> None:
    """Say that a file is an export of dlprof's own, whose run has more in it."""
    other = top.get("otherData")
    if not isinstance(other, dict) or "zero_shifted_by_ns" not in other:
        return
    own_exports.tell(trace, str(other.get("run")))


class _Processes:
    """The events of a file, by the process that they are of: times of different processes are never added.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._traces: dict[Any, Trace] = {}
        self._rows: dict[Any, list[EventRow]] = {}
        self._names: dict[Any, str] = {}

    def add(self, event: Event, end_us: float) -> None:
        """Take an event."""
        process = self._process(event.pid)
        trace = self._traces[process]
        number = event.pid if isinstance(event.pid, int) else 0
        lane = trace.lane((event.pid, event.tid), Lane(number % 2**31, thread_number(event), str(event.tid)))
        start, name = as_ns(event.ts), str(event.name)
        dur = max(0, as_ns(end_us) - start)
        self._rows[process].append(EventRow(_kind(name, event.cat or ""), trace.names.number(name), start, dur, lane))

    def _process(self, pid: Any) -> Any:
        """What the trace of a process is kept under; the first ones have their own."""
        if pid not in self._traces:
            if len(self._traces) >= PROCESSES_AT_MOST:
                pid = REST
            if pid not in self._traces:
                self._traces[pid] = Trace(self._path, "chrome", "chrome")
                self._rows[pid] = []
        return pid

    def name(self, event: Event) -> None:
        """Take what the file calls a thread or a process."""
        if event.args is None or event.args.name is None:
            return
        if event.name == "process_name" and (event.pid in self._names or len(self._names) < PROCESSES_AT_MOST):
            self._names[event.pid] = str(event.args.name)[:NAME_AT_MOST]
        elif event.name == "thread_name":
            kept = event.pid if event.pid in self._traces else REST
            if kept in self._traces:
                self._traces[kept].rename_lane((event.pid, event.tid), str(event.args.name))

    def flush(self) -> None:
        """Give the traces what was taken."""
        for process, rows in self._rows.items():
            self._traces[process].add_rows(rows)
            rows.clear()

    def traces(self) -> Sequence[Trace]:
        """The trace of each process, all on the clock of the file; one at least."""
        if len(self._traces) > 1:
            for process, trace in self._traces.items():
                trace.facts = by_process.facts(process, self._names.get(process), self._path)
        return list(self._traces.values()) or [Trace(self._path, "chrome", "chrome")]


@lru_cache(maxsize=4096)
def _kind(name: str, category: str) -> EventKind:
    if category in _CATEGORIES:
        return _CATEGORIES[category]
    mark = trace_marks.of_name(name)
    if mark is None:
        return EventKind.WAIT if _WAITS.fullmatch(name) else EventKind.OPERATOR
    if mark.sort is MarkSort.INPUT:
        return EventKind.INPUT
    return EventKind.ANNOTATION if mark.sort in _RANGES else EventKind.OPERATOR


READER = Reader("chrome", "any other trace in Chrome's format", claims, read)
