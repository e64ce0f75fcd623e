"""What ran on the devices."""

from __future__ import annotations

from dlprof.analysis.timeline import devices
from dlprof.schema.manifest import Manifest
from dlprof.store.run import Run
from tests.unit.analysis.rows import event, in_memory, op
from tests.unit.runs import table


def run() -> Run:
    """An operator of the host and two streams of GPU 0, of which one has nothing to do for 30 ns."""
    return in_memory(
        kernel_ops=table("kernel_ops", [op(0, "operator", "mm", "dense"), op(1, "kernel", "k", flops=4.0)]),
        kernel_events=table(
            "kernel_events",
            [
                event(1, 5, 10, 0, lane="s1", delay_ns=3),
                event(1, 50, 10, 0, lane="s1"),
                event(0, 0, 20, lane="main"),
                event(1, 6, 2, 0, lane="s2"),
            ],
        ),
        gpu_gaps=table("gpu_gaps", [{"device": 0, "start_ns": 15, "dur_ns": 30, "blamed": "load"}]),
    )


def test_executions_stand_by_device_and_lane() -> None:
    """The host first."""
    found = [(device, lane, slices.start_ns.tolist()) for device, lane, slices in devices.kernels(run())]

    assert found == [("host operators", "main", [0]), ("GPU 0", "s1", [5, 50]), ("GPU 0", "s2", [6])]


def test_executions_of_one_operator_have_in_common_what_they_are() -> None:
    """And for themselves only what is known of each."""
    (_, _, slices) = list(devices.kernels(run()))[1]

    assert {slices.whats[at].name for at in slices.what.tolist()} == {"k"}
    assert slices.whats[int(slices.what[0])].facts["flops"] == 4.0
    assert set(slices.own) == {"delay_ns"}


def test_idle_time_says_what_the_host_did() -> None:
    """As a fact."""
    ((device, slices),) = devices.gaps(run())

    assert (device, slices.start_ns.tolist(), slices.dur_ns.tolist()) == ("GPU 0", [15], [30])
    assert slices.whats[0].facts["blamed"] == "load"


def test_a_run_without_kernels_has_nothing_on_devices() -> None:
    """Nor idle time."""
    assert list(devices.kernels(in_memory())) == []
    assert list(devices.gaps(in_memory())) == []


def test_a_device_without_a_number_is_the_host() -> None:
    """A GPU whose name is not known has its number only."""
    bare = in_memory(Manifest())

    assert [devices.device_name(bare, device) for device in (None, -1, 2)] == [
        "host operators",
        "host operators",
        "GPU 2",
    ]
