"""Idle time of the GPUs: how much, why, and what the host did meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import total
from dlprof.store.run import Run

_CPU = -1
_BLAMED_AT_MOST = 20


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
    """

    device: int
    span_ns: int
    idle_ns: int
    host_ns: int
    launch_ns: int
    wait_ns: int
    gaps: int
    blamed: Sequence[tuple[str | None, int]]


def of_run(run: Run) -> list[GpuIdle]:
    """Idle time of every GPU that ran something, in order of their numbers."""
    events, gaps = run.table("kernel_events"), run.table("gpu_gaps")
    devices = sorted(set(pc.unique(events["device"]).to_pylist()) - {_CPU})
    return [
        _of_device(device, *(table.filter(pc.equal(table["device"], device)) for table in (events, gaps)))
        for device in devices
    ]


def _of_device(device: int, events: pa.Table, gaps: pa.Table) -> GpuIdle:
    return GpuIdle(
        device=device,
        span_ns=sum(_span(events, window) for window in pc.unique(events["window"]).to_pylist()),
        idle_ns=total(gaps["dur_ns"]),
        host_ns=total(gaps["host_ns"]),
        launch_ns=total(gaps["launch_ns"]),
        wait_ns=total(gaps["wait_ns"]),
        gaps=gaps.num_rows,
        blamed=_blamed(gaps),
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
