"""Gaps of the GPUs: time in which nothing ran on a device, and why.

A gap ends with a kernel or copy. Before its launch the host had nothing to run (host-bound), and that part is
charged to what ran then on the launching thread. From the launch on it takes the usual latency of a launch;
what is left beyond that is waiting on the device, for another stream or a resource.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.artifact import Who
from dlprof.ingest.attribution.names import plain
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import nest
from dlprof.ingest.kernels.trace import NONE, Integers, Kind, Trace
from dlprof.schema.tables import TABLES


class Busy(Protocol):
    """What is handed on from segment to segment."""

    busy_until: dict[int, int]


_BLAMED = (Kind.OPERATOR, Kind.RUNTIME, Kind.WAIT, Kind.INPUT, Kind.ANNOTATION, Kind.PYTHON)


def find(
    trace: Trace, columns: dict[str, npt.NDArray[Any]], linked: Linked, whose: tuple[Who, int], carry: Busy
) -> pa.Table:
    """The gaps of every device, as the table `gpu_gaps`.

    Args:
        trace: The trace.
        columns: Its events, or those of a segment.
        linked: Relations between the events.
        whose: Process and number of the window.
        carry: Until when each device was busy in earlier segments; brought up to date.
    """
    who, window = whose
    on_device = np.isin(columns["kind"], (Kind.KERNEL, Kind.TRANSFER))
    parts = [
        _of_device(columns, linked, np.flatnonzero(on_device & (columns["device"] == device)), (carry, device))
        for device in np.unique(columns["device"][on_device]).tolist()
    ]
    parts = [part for part in parts if len(part["row"])]
    if not parts:
        return TABLES["gpu_gaps"].empty_table()
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    blamed = _blame(trace, columns, linked, found)
    size = len(found["row"])
    names = [trace.names[n] for n in columns["name"][found["row"]].tolist()]
    arrays = [
        [who.host] * size, [who.rank] * size, [who.pid] * size, columns["device"][found["row"]], found["start"],
        found["dur"], found["host"], found["launch"], found["wait"], names, blamed, [window] * size,
    ]  # fmt: skip
    fields = zip(arrays, TABLES["gpu_gaps"], strict=True)
    return pa.Table.from_arrays([pa.array(a, type=f.type) for a, f in fields], schema=TABLES["gpu_gaps"])


def _of_device(
    columns: dict[str, npt.NDArray[Any]], linked: Linked, rows: Integers, before: tuple[Busy, int]
) -> dict[str, Integers]:
    """Gaps of one device over the union of its streams."""
    carry, device = before
    rows = rows[np.argsort(columns["start"][rows], kind="stable")]
    start = columns["start"][rows]
    ends = np.concatenate(([carry.busy_until.get(device, int(start[0]))], start + columns["dur"][rows]))
    busy_until = np.maximum.accumulate(ends)
    carry.busy_until[device] = int(busy_until[-1])
    after = np.flatnonzero(start > busy_until[:-1])
    begin, end, row = busy_until[after], start[after], rows[after]
    launch = linked.launch[row]
    known = launch >= 0
    called = np.where(known, columns["start"][np.maximum(launch, 0)], begin)
    host = np.where(known, np.clip(called - begin, 0, end - begin), 0)
    rest = end - begin - host
    latency = _latency(called, begin, end, known)
    # Launched before the gap began: the launch itself cost no time in it.
    launching = np.where(known & (called >= begin), np.minimum(rest, latency), 0)
    return {
        "row": row, "start": begin, "dur": end - begin, "host": host, "launch": launching,
        "wait": rest - launching,
    }  # fmt: skip


def _latency(called: Integers, begin: Integers, end: Integers, known: npt.NDArray[np.bool_]) -> int:
    """The usual time from a launch to its kernel on a device that has nothing else to do (ns)."""
    onto_idle = known & (called >= begin) & (end > called)
    return int(np.median((end - called)[onto_idle])) if onto_idle.any() else 0


def _blame(
    trace: Trace, columns: dict[str, npt.NDArray[Any]], linked: Linked, found: dict[str, Integers]
) -> list[str | None]:
    """What ran longest on the launching thread during the host-bound part of each gap."""
    blamed: list[str | None] = [None] * len(found["row"])
    launch = linked.launch[found["row"]]
    wanted = np.flatnonzero((launch >= 0) & (found["host"] > 0))
    if not len(wanted):
        return blamed
    rows = np.flatnonzero(np.isin(columns["kind"], _BLAMED) & (columns["device"] < 0))
    tree = nest(columns["lane"][rows], columns["start"][rows], columns["dur"][rows])
    lane = columns["lane"][launch[wanted]].astype(np.int64)
    begin = found["start"][wanted]
    # Eight looks into each stretch: what is seen most often ran longest, as a sampler would say.
    looks = np.stack([
        tree.at(lane, begin + (found["host"][wanted] * (2 * part + 1)) // 16) for part in range(8)
    ])  # fmt: skip
    texts, seen = _names(trace, columns["name"][rows[tree.order]])
    seen = np.where(looks == NONE, NONE, seen[np.maximum(looks, 0)])
    for gap, number in zip(wanted.tolist(), _most(seen).tolist(), strict=True):
        blamed[gap] = texts[number] if number != NONE else None
    return blamed


def _names(trace: Trace, names: Integers) -> tuple[list[str], Integers]:
    """Names without what tells single executions apart, each once, and the number of that of each event."""
    unique, inverse = np.unique(names, return_inverse=True)
    texts: dict[str, int] = {}
    numbers = [texts.setdefault(plain(trace.names[n]), len(texts)) for n in unique.tolist()]
    return list(texts), np.asarray(numbers or [NONE], np.int64)[inverse]


def _most(seen: Integers) -> Integers:
    """What is most frequent in each column; of several, that which is first."""
    counts = np.stack([(seen == row).sum(axis=0) for row in seen])
    found: Integers = np.take_along_axis(seen, counts.argmax(axis=0)[None], axis=0)[0]
    return found
