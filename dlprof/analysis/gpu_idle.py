"""Idle time of the GPUs: how much, why, and what the host did meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.store.run import Run


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
    found = []
    for device in sorted(set(pc.unique(events["device"]).to_pylist()) - {-1}):
        own = events.filter(pc.equal(events["device"], device))
        span = 0
        for window in pc.unique(own["window"]).to_pylist():
            rows = own.filter(pc.equal(own["window"], window))
            span += pc.max(pc.add(rows["start_ns"], rows["dur_ns"])).as_py() - pc.min(rows["start_ns"]).as_py()
        idle = gaps.filter(pc.equal(gaps["device"], device))
        sums = {name: pc.sum(idle[name]).as_py() or 0 for name in ("dur_ns", "host_ns", "launch_ns", "wait_ns")}
        found.append(
            GpuIdle(
                device, span, sums["dur_ns"], sums["host_ns"], sums["launch_ns"], sums["wait_ns"], idle.num_rows,
                _blamed(idle["blamed"].to_pylist(), idle["host_ns"].to_pylist()),
            )
        )  # fmt: skip
    return found


def _blamed(names: list[str | None], times: list[int]) -> list[tuple[str | None, int]]:
    sums: dict[str | None, int] = {}
    for name, time in zip(names, times, strict=True):
        if time:
            sums[name] = sums.get(name, 0) + time
    return sorted(sums.items(), key=lambda item: -item[1])[:20]
