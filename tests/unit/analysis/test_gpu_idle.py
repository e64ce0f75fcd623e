"""Idle time of the GPUs."""

from __future__ import annotations

from typing import Any

from dlprof.analysis import gpu_idle
from dlprof.analysis.gpu_idle import GpuIdle, HostDoing
from tests.unit.analysis.rows import event, in_memory, op
from tests.unit.runs import table


def gap(device: int, start: int, dur: int, blamed: str | None = None, host: int = 0, **more: Any) -> dict[str, Any]:
    """A row of gpu_gaps."""
    return {"device": device, "start_ns": start, "dur_ns": dur, "host_ns": host, "launch_ns": 0, "wait_ns": 0,
            "kernel": "k", "blamed": blamed, "window": 0, **more}  # fmt: skip


def test_idle_time_is_summed_by_device_and_cause() -> None:
    """Of a span of 100; what the host did longest comes first."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [op(0, "kernel", "k"), op(1, "operator", "o")]),
        kernel_events=table("kernel_events", [event(0, 0, 10, 0), event(0, 90, 10, 0), event(1, 0, 500)]),
        gpu_gaps=table(
            "gpu_gaps",
            [
                gap(0, 10, 30, "load", 20, launch_ns=4, wait_ns=6, blamed_elsewhere=True),
                gap(0, 50, 40, "step", 35, blamed_within="fit"),
                gap(1, 0, 5),
            ],
        ),
    )

    doings = [HostDoing("step", "fit", None, False, 35), HostDoing("load", None, None, True, 20)]
    assert gpu_idle.of_run(run) == [GpuIdle(0, 100, 70, 55, 4, 6, 2, [("step", 35), ("load", 20)], 5, doings, 0)]


def test_time_between_windows_is_not_idle() -> None:
    """A device is looked at from the first to the last kernel of each window."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [op(0, "kernel", "k")]),
        kernel_events=table("kernel_events", [event(0, 0, 10, 0), event(0, 1000, 20, 0, window=1)]),
    )

    assert [idle.span_ns for idle in gpu_idle.of_run(run)] == [30]


def test_devices_of_one_number_in_two_ranks_are_two() -> None:
    """GPU 0 of each rank has its own idle time."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [op(0, "kernel", "k")]),
        kernel_events=table("kernel_events", [event(0, 0, 10, 0), event(0, 50, 10, 0, rank=1)]),
        gpu_gaps=table("gpu_gaps", [gap(0, 10, 5, rank=1)]),
    )

    assert [(idle.rank, idle.span_ns, idle.idle_ns) for idle in gpu_idle.of_run(run)] == [(0, 10, 0), (1, 10, 5)]


def test_devices_of_one_number_in_two_processes_are_two() -> None:
    """Gaps of the one are none of the other."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [op(0, "kernel", "k")]),
        kernel_events=table("kernel_events", [event(0, 0, 10, 0, pid=7), event(0, 50, 10, 0, pid=8)]),
        gpu_gaps=table("gpu_gaps", [gap(0, 10, 5, pid=8)]),
    )

    assert [(idle.pid, idle.span_ns, idle.idle_ns) for idle in gpu_idle.of_run(run)] == [(7, 10, 0), (8, 10, 5)]


def test_a_run_on_the_host_has_no_idle_gpu() -> None:
    """The host is no device."""
    run = in_memory(kernel_events=table("kernel_events", [event(0, 0, 10)]))

    assert gpu_idle.of_run(run) == []
