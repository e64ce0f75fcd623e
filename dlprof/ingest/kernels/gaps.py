"""Gaps of the GPUs: time in which nothing ran on a device, and why.

A gap ends with a kernel or copy. Before its launch the host had nothing to run (host-bound), and that part is
charged to what ran then on the launching thread, or where nothing is known of that, on another one. From the launch on
it takes the usual latency of a launch; while the launching call itself takes longer than that, it is the host's time
as well. What is left beyond that is waiting on the device, for another stream or a resource. Where the launch of the
kernel is not known, so is the cause of the gap: it has no parts. Nor is it known what holds up kernels of a graph
that was launched as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.kernels.events import Booleans, Events, Integers
from dlprof.ingest.kernels.host_doings import Doing, HostDoings
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.numbered import Numbered
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import EventKind

_GRAPH = re.compile("GraphLaunch")


@dataclass(frozen=True)
class _Gaps:
    """Gaps by columns.

    Attributes:
        row: Position of the event that ended each.
        start: Start (ns).
        dur: Duration (ns).
        host: Host-bound part (ns).
        launch: Latency of the launch (ns).
        wait: What is left (ns), where the launch is known; else all three are 0.
    """

    row: Integers
    start: Integers
    dur: Integers
    host: Integers
    launch: Integers
    wait: Integers

    @classmethod
    def concat(cls, parts: Sequence[_Gaps]) -> _Gaps:
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))


@dataclass
class GapFinder:
    """Finds the gaps of a trace, segment by segment.

    Attributes:
        names: Names of the trace's events.
        process: The process of the gaps.
        window: Number of the window.
    """

    names: Numbered[str]
    process: ProcessId
    window: int
    _busy_until: dict[int, int] = field(default_factory=dict)
    """End of the last kernel or copy of each device (ns), over all segments so far."""

    def find(self, events: Events, linked: Linked) -> pa.Table:
        """The gaps of every device in a segment, as the table `gpu_gaps`."""
        on_device = events.is_kind(EventKind.KERNEL, EventKind.TRANSFER)
        rows = np.flatnonzero(on_device)
        rows = rows[np.lexsort((events.start[rows], events.device[rows]))]
        bounds = np.flatnonzero(np.diff(events.device[rows])) + 1
        graphs = np.asarray([bool(_GRAPH.search(text)) for text in self.names.values] or [False])
        parts = [self._of_device(events, linked, part, graphs) for part in np.split(rows, bounds) if len(part)]
        parts = [part for part in parts if len(part.row)]
        if not parts:
            return TABLES["gpu_gaps"].empty_table()
        gaps = _Gaps.concat(parts)
        doings = _doings(events, linked, self.names, gaps)
        columns = {
            **{name: [value] * len(gaps.row) for name, value in self.process.columns.items()},
            "device": events.device[gaps.row],
            "start_ns": gaps.start,
            "dur_ns": gaps.dur,
            "host_ns": gaps.host,
            "launch_ns": gaps.launch,
            "wait_ns": gaps.wait,
            "kernel": [self.names[n] for n in events.name[gaps.row].tolist()],
            "blamed": [doing.name for doing in doings],
            "blamed_within": [doing.within for doing in doings],
            "blamed_at": [doing.at for doing in doings],
            "blamed_elsewhere": [None if doing.name is None else doing.elsewhere for doing in doings],
            "window": [self.window] * len(gaps.row),
        }
        schema = TABLES["gpu_gaps"]
        return pa.Table.from_arrays([pa.array(columns[f.name], type=f.type) for f in schema], schema=schema)

    def _of_device(self, events: Events, linked: Linked, rows: Integers, graphs: Booleans) -> _Gaps:
        """Gaps of one device over the union of its streams; `rows` are its events, in order of time."""
        start, device = events.start[rows], int(events.device[rows[0]])
        ends = np.concatenate(([self._busy_until.get(device, int(start[0]))], start + events.dur[rows]))
        busy_until = np.maximum.accumulate(ends)
        self._busy_until[device] = int(busy_until[-1])
        after = np.flatnonzero(start > busy_until[:-1])
        return _split(events, linked, rows[after], busy_until[after], graphs)


def _doings(events: Events, linked: Linked, names: Numbered[str], gaps: _Gaps) -> list[Doing]:
    """What the host did longest during the host-bound part of each gap."""
    doings = [Doing()] * len(gaps.row)
    launch = linked.launch[gaps.row]
    wanted = np.flatnonzero((launch >= 0) & (gaps.host > 0))
    if len(wanted):
        lane = events.lane[launch[wanted]].astype(np.int64)
        found = HostDoings(events, linked, names).longest(lane, gaps.start[wanted], gaps.host[wanted])
        for gap, doing in zip(wanted.tolist(), found, strict=True):
            doings[gap] = doing
    return doings


def _split(events: Events, linked: Linked, row: Integers, begin: Integers, graphs: Booleans) -> _Gaps:
    """The parts of the gaps that the events of `row` ended; of one without a known launch there are none.

    `graphs` says which names are those of calls that launch a whole graph.
    """
    end, launch = events.start[row], linked.launch[row]
    known = launch >= 0
    at = np.maximum(launch, 0)
    called, returned = (
        np.where(known, events.start[at], begin),
        np.where(known, events.start[at] + events.dur[at], begin),
    )
    idle = np.where(known, np.clip(called - begin, 0, end - begin), 0)
    rest = np.where(known, end - begin - idle, 0)
    onto_idle = known & (called >= begin)
    # Launched before the gap began: the launch itself cost no time in it.
    launching = np.where(onto_idle, np.minimum(rest, _latency((end - called)[onto_idle])), 0)
    # A launch that takes longer than launches do, such as one that loads the code of its kernel, is the host's.
    in_call = np.clip(np.minimum(returned, end) - np.maximum(called, begin), 0, rest)
    calling = np.maximum(0, in_call - launching)
    # What goes on inside a graph need not be recorded, so nobody knows what held its kernels up.
    told = known & ~graphs[events.name[at]]
    return _Gaps(row, begin, end - begin, idle + calling, launching, np.where(told, rest - launching - calling, 0))


def _latency(delays: Integers) -> int:
    """The usual time from a launch to its kernel on a device that has nothing else to do (ns)."""
    positive = delays[delays > 0]
    return int(np.median(positive)) if len(positive) else 0
