"""Idle time of the GPUs: how much, why, and what the host did meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import total
from dlprof.store.run import Run

_PLACE = ("host", "rank", "pid", "device")
_BLAMED_AT_MOST = 20


@dataclass(frozen=True)
class HostDoing:
    """What the host did while a device had nothing to run.

    Attributes:
        name: Operator, call, range or function; None: nothing was recorded.
        within: The named range around it; None: there is none.
        at: The function of Python around it; None: none was recorded.
        elsewhere: Whether another thread than the launching one did it, of which nothing is known then.
        ns: Idle time of the device meanwhile (ns).
    """

    name: str | None
    within: str | None
    at: str | None
    elsewhere: bool
    ns: int


@dataclass(frozen=True)
class GpuIdle:
    """Idle time of one device in all traced stretches (ns).

    Attributes:
        device: Number of the device.
        span_ns: From its first to its last kernel, over all stretches.
        idle_ns: Of that, without any kernel or copy.
        host_ns: Of that, before the next kernel was launched.
        launch_ns: Latency of launches.
        wait_ns: Launched, but held up on the device.
        gaps: Number of gaps.
        blamed: (operator, call or Python function, host-bound time), those with most time first.
        unknown_ns: Idle time that ended with a kernel whose launch is not known: nobody can say why.
        host_doings: What the host did in `host_ns`, those with most time first: `blamed` and where it was.
        rank: Rank of the process that used the device; None: not known.
        pid: Number of that process; None: the only one of its rank that used devices.
    """

    device: int
    span_ns: int
    idle_ns: int
    host_ns: int
    launch_ns: int
    wait_ns: int
    gaps: int
    blamed: Sequence[tuple[str | None, int]]
    unknown_ns: int = 0
    host_doings: Sequence[HostDoing] = ()
    rank: int | None = None
    pid: int | None = None


def of_run(run: Run) -> list[GpuIdle]:
    """Idle time of every GPU that ran something, by host, rank, process and number."""
    events, gaps = run.table("kernel_events", (*_PLACE, "window", "start_ns", "dur_ns")), run.table("gpu_gaps")
    events = events.filter(pc.greater_equal(events["device"], 0))
    places = events.select(_PLACE).group_by(list(_PLACE)).aggregate([]).to_pylist()
    order = sorted(
        places, key=lambda place: (place["host"] or "", place["rank"] or 0, place["pid"] or 0, place["device"])
    )
    whose = {(place["host"], place["rank"], place["pid"]) for place in places}
    alone = Counter((host, rank) for host, rank, _ in whose)
    found = [_of_device(place, _of_place(events, place), _of_place(gaps, place)) for place in order]
    return [
        replace(idle, pid=place["pid"]) if alone[place["host"], place["rank"]] > 1 else idle
        for place, idle in zip(order, found, strict=True)
    ]


def _of_place(table: pa.Table, place: Mapping[str, Any]) -> pa.Table:
    """The rows of one device of one process."""
    for name in _PLACE:
        column = table[name].cast(pa.string()) if name == "host" else table[name]
        same = pc.is_null(column) if place[name] is None else pc.equal(column, place[name])
        table = table.filter(pc.fill_null(same, False))
    return table


def _of_device(place: Mapping[str, Any], events: pa.Table, gaps: pa.Table) -> GpuIdle:
    idle, host, launch, wait = (total(gaps[name]) for name in ("dur_ns", "host_ns", "launch_ns", "wait_ns"))
    return GpuIdle(
        device=place["device"],
        span_ns=sum(_span(events, window) for window in pc.unique(events["window"]).to_pylist()),
        idle_ns=idle,
        host_ns=host,
        launch_ns=launch,
        wait_ns=wait,
        gaps=gaps.num_rows,
        blamed=_blamed(gaps),
        unknown_ns=idle - host - launch - wait,
        host_doings=_doings(gaps),
        rank=place["rank"],
    )


def _span(events: pa.Table, window: int) -> int:
    """From the first to the last kernel of a traced stretch (ns)."""
    rows = events.filter(pc.equal(events["window"], window))
    return int(pc.max(pc.add(rows["start_ns"], rows["dur_ns"])).as_py() - pc.min(rows["start_ns"]).as_py())


def _blamed(gaps: pa.Table) -> list[tuple[str | None, int]]:
    sums: dict[str | None, int] = {}
    for row in gaps.select(["blamed", "host_ns"]).to_pylist():
        if row["host_ns"]:
            sums[row["blamed"]] = sums.get(row["blamed"], 0) + row["host_ns"]
    return sorted(sums.items(), key=lambda item: -item[1])[:_BLAMED_AT_MOST]


def _doings(gaps: pa.Table) -> list[HostDoing]:
    sums: dict[tuple[Any, ...], int] = {}
    names = ("blamed", "blamed_within", "blamed_at", "blamed_elsewhere")
    for row in gaps.select([*names, "host_ns"]).to_pylist():
        if row["host_ns"]:
            key = tuple(row[name] for name in names)
            sums[key] = sums.get(key, 0) + row["host_ns"]
    found = [HostDoing(name, within, at, bool(apart), ns) for (name, within, at, apart), ns in sums.items()]
    return sorted(found, key=lambda doing: -doing.ns)[:_BLAMED_AT_MOST]
