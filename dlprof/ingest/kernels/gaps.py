"""Gaps of the GPUs: time in which nothing ran on a device, and why.

A gap ends with a kernel or copy. Before its launch the host had nothing to run (host-bound), and that part is
charged to what ran then on the launching thread. From the launch on it takes the usual latency of a launch;
what is left beyond that is waiting on the device, for another stream or a resource.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.attribution.names import plain
from dlprof.ingest.kernels.events import NONE, Booleans, Events, Integers
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import nest_events
from dlprof.ingest.kernels.numbered import Numbered
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import EventKind

_BLAMED = tuple(kind for kind in EventKind if kind not in (EventKind.KERNEL, EventKind.TRANSFER))
"""What the host can be doing."""
_LOOKS = 8
"""Looks into the host-bound part of each gap."""


@dataclass(frozen=True)
class _Gaps:
    """Gaps by columns.

    Attributes:
        row: Position of the event that ended each.
        start: Start (ns).
        dur: Duration (ns).
        host: Host-bound part (ns).
        launch: Latency of the launch (ns).
        wait: What is left (ns).
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
        parts = [self._of_device(events, linked, d, on_device) for d in np.unique(events.device[on_device]).tolist()]
        parts = [part for part in parts if len(part.row)]
        if not parts:
            return TABLES["gpu_gaps"].empty_table()
        gaps = _Gaps.concat(parts)
        columns = {
            **{name: [value] * len(gaps.row) for name, value in self.process.columns.items()},
            "device": events.device[gaps.row],
            "start_ns": gaps.start,
            "dur_ns": gaps.dur,
            "host_ns": gaps.host,
            "launch_ns": gaps.launch,
            "wait_ns": gaps.wait,
            "kernel": [self.names[n] for n in events.name[gaps.row].tolist()],
            "blamed": self._blame(events, linked, gaps),
            "window": [self.window] * len(gaps.row),
        }
        schema = TABLES["gpu_gaps"]
        return pa.Table.from_arrays([pa.array(columns[f.name], type=f.type) for f in schema], schema=schema)

    def _of_device(self, events: Events, linked: Linked, device: int, on_device: Booleans) -> _Gaps:
        """Gaps of one device over the union of its streams."""
        rows = np.flatnonzero(on_device & (events.device == device))
        rows = rows[np.argsort(events.start[rows], kind="stable")]
        start = events.start[rows]
        ends = np.concatenate(([self._busy_until.get(device, int(start[0]))], start + events.dur[rows]))
        busy_until = np.maximum.accumulate(ends)
        self._busy_until[device] = int(busy_until[-1])
        after = np.flatnonzero(start > busy_until[:-1])
        return _split(events, linked, rows[after], busy_until[after])

    def _blame(self, events: Events, linked: Linked, gaps: _Gaps) -> list[str | None]:
        """What ran longest on the launching thread during the host-bound part of each gap."""
        blamed: list[str | None] = [None] * len(gaps.row)
        launch = linked.launch[gaps.row]
        wanted = np.flatnonzero((launch >= 0) & (gaps.host > 0))
        if not len(wanted):
            return blamed
        rows = np.flatnonzero(events.is_kind(*_BLAMED) & (events.device < 0))
        tree = nest_events(events, rows)
        lane = events.lane[launch[wanted]].astype(np.int64)
        # Several looks into each stretch: what is seen most often ran longest, as a sampler would say.
        begin, host = gaps.start[wanted], gaps.host[wanted]
        parts = range(1, 2 * _LOOKS, 2)
        looks = np.stack([tree.at(lane, begin + (host * part) // (2 * _LOOKS)) for part in parts])
        texts, number = self._plain_names(events.name[rows[tree.order]].astype(np.int64))
        seen = np.where(looks == NONE, NONE, number[np.maximum(looks, 0)])
        for gap, most in zip(wanted.tolist(), _most(seen).tolist(), strict=True):
            blamed[gap] = texts[most] if most != NONE else None
        return blamed

    def _plain_names(self, names: Integers) -> tuple[Numbered[str], Integers]:
        """Names without what tells single executions apart, and the number of that of each event."""
        unique, inverse = np.unique(names, return_inverse=True)
        texts: Numbered[str] = Numbered()
        numbers = [texts.number(plain(self.names[n])) for n in unique.tolist()]
        return texts, np.asarray(numbers or [NONE], np.int64)[inverse]


def _split(events: Events, linked: Linked, row: Integers, begin: Integers) -> _Gaps:
    """The parts of the gaps that the events of `row` ended."""
    end, launch = events.start[row], linked.launch[row]
    known = launch >= 0
    called = np.where(known, events.start[np.maximum(launch, 0)], begin)
    host = np.where(known, np.clip(called - begin, 0, end - begin), 0)
    rest = end - begin - host
    onto_idle = known & (called >= begin)
    # Launched before the gap began: the launch itself cost no time in it.
    launching = np.where(onto_idle, np.minimum(rest, _latency((end - called)[onto_idle])), 0)
    return _Gaps(row, begin, end - begin, host, launching, rest - launching)


def _latency(delays: Integers) -> int:
    """The usual time from a launch to its kernel on a device that has nothing else to do (ns)."""
    positive = delays[delays > 0]
    return int(np.median(positive)) if len(positive) else 0


def _most(seen: Integers) -> Integers:
    """What is most frequent in each column; of several, that which is first."""
    counts = np.stack([(seen == row).sum(axis=0) for row in seen])
    found: Integers = np.take_along_axis(seen, counts.argmax(axis=0)[None], axis=0)[0]
    return found
