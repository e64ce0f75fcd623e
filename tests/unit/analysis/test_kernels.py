"""Sums of kernels by what they belong to."""

from __future__ import annotations

from typing import Any

from dlprof.analysis import kernels
from tests.unit.analysis.rows import event, in_memory, op
from tests.unit.runs import table

PHASES = [
    {"phase": name, "parent": None, "dur_ns": 1, "count": 1} for name in ("fit.steps", "evaluate", "script", "teardown")
]
RUN = in_memory(
    phases=table("phases", PHASES),
    kernel_ops=table("kernel_ops", [
        op(0, "operator", "linear", "dense_1", "forward"), op(1, "operator", "mm", "dense_1", "forward", flops=8.0),
        op(2, "kernel", "sgemm", "dense_1", "forward"), op(3, "transfer", "copy", None, None, bytes=64.0),
        op(4, "runtime", "launch"),
    ]),
    kernel_events=table("kernel_events", [
        event(0, 0, 100, nested_ns=60), event(1, 20, 60, phase="fit.steps", step=3), event(1, 200, 20, phase="evaluate"),
        event(2, 50, 40, 0, delay_ns=25, step=3), event(2, 70, 40, 0), event(3, 200, 10, 1), event(4, 30, 5),
    ]),
    kernel_windows=table("kernel_windows", [{"window": 0, "start_ns": 0, "dur_ns": 1000, "dropped": 2}]),
)  # fmt: skip


def by(name: str, **more: Any) -> dict[tuple[Any, ...], tuple[int, int, int, int | None]]:
    """Keys to (count, total, own, union)."""
    found = kernels.summarise(RUN, name, **more)
    return {
        tuple(row.keys.get(k) for k in (*kernels.GROUPS[name], "kind", "device")): (
            row.count,
            row.total_ns,
            row.self_ns,
            row.union_ns,
        )
        for row in found.rows
    }


def test_by_operator_a_total_contains_what_runs_inside() -> None:
    """As in the engines' own summaries; own time does not."""
    assert by("op") == {
        ("linear", "operator", "cpu"): (1, 100, 40, 100),
        ("mm", "operator", "cpu"): (2, 80, 80, 80),
        ("sgemm", "kernel", "gpu:0"): (2, 80, 80, 60),
        ("copy", "transfer", "gpu:1"): (1, 10, 10, 10),
    }


def test_by_layer_rows_of_devices_sum_to_the_time_of_all_kernels() -> None:
    """Nothing is counted twice, and what belongs to no layer is a row of its own."""
    found = kernels.summarise(RUN, "layer")

    assert sum(row.total_ns for row in found.work) == found.all_ns == 80 + 10
    assert (found.all_of, found.unattributed_ns) == ("devices", 10)
    assert found.dropped_events == 2


def test_operators_of_the_host_are_not_added_to_kernels_of_devices() -> None:
    """They launch these: each row's share is of what ran where it did, and rows of devices come first."""
    found = kernels.summarise(RUN, "layer")

    assert [(row.keys["device"], row.total_ns, found.whole_ns(row)) for row in found.rows] == [
        ("gpu:0", 80, 90),
        ("gpu:1", 10, 90),
        ("cpu", 80, 120),
        ("cpu", 40, 120),
    ]
    assert found.host_ns == 120


def test_without_a_device_the_hosts_operators_are_all_there_is() -> None:
    """And what their shares are of."""
    found = kernels.summarise(RUN, "layer", kinds=("operator",))

    assert (found.all_ns, found.all_of, found.host_ns, len(found.work)) == (120, "host", 120, 2)


def test_overlapping_kernels_count_once_on_the_wall() -> None:
    """50 to 90 and 70 to 110 are 60 ns of wall time."""
    assert by("device")["kernel", "gpu:0"] == (2, 80, 80, 60)


def test_only_a_phase_is_summed_where_that_is_asked_for() -> None:
    """`fit` is also fit.steps."""
    assert by("op", phase="fit") == {("mm", "operator", "cpu"): (1, 60, 60, 60)}


def test_launch_delay_operations_and_bytes_are_null_where_they_are_not_known() -> None:
    """Never zero."""
    rows = {row.keys["op"]: row for row in kernels.summarise(RUN, "op").rows}

    assert (rows["sgemm"].delay_ns, rows["mm"].delay_ns) == (25.0, None)
    assert (rows["mm"].flops, rows["sgemm"].flops, rows["copy"].bytes) == (16.0, None, 64.0)


def test_sums_of_profilers_without_times_have_no_wall_time() -> None:
    """They are marked."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [op(0, "kernel", "gemm")]),
        kernel_totals=table("kernel_totals", [{"op_id": 0, "device": 0, "count": 4, "total_ns": 100, "window": 0}]),
    )
    found = kernels.summarise(run, "kernel")

    assert [(row.count, row.total_ns, row.union_ns, row.p95_ns) for row in found.rows] == [(4, 100, None, None)]
    assert (found.aggregated, found.unattributed_ns) == (True, 100)


def test_the_share_of_long_operators_is_of_the_hosts_own_time() -> None:
    """Of 40 + 60 + 20 ns without what runs inside, one took 50 or more."""
    assert kernels.share_of_long(RUN, 50) == 60 / 120
    assert kernels.share_of_long(in_memory(kernel_ops=table("kernel_ops", []), kernel_events=table("kernel_events", []),
                                           kernel_windows=table("kernel_windows", [])), 50) is None  # fmt: skip
