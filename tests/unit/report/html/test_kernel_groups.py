"""Rows of kernels as a page shows them."""

from __future__ import annotations

from dlprof.report.html import kernel_groups
from dlprof.report.kernel_json import KernelReport


def row(device: str, op: str, layer: str | None = None) -> KernelReport:
    """A row of 1 ms."""
    return KernelReport(
        layer=layer, direction=None, op=op, category="matmul", kind="kernel", device=device, count=1, total_ns=10**6,
        self_ns=10**6, union_ns=None, mean_ns=10**6, p95_ns=None, share=0.5, share_of_step=None, launch_delay_ns=None,
        flops=None, bytes=None,
    )  # fmt: skip


def test_devices_and_host_stand_apart() -> None:
    """They ran beside each other: shares are of either sum."""
    found = kernel_groups.of_rows([row("cpu", "a"), row("gpu:0", "b"), row("gpu:1", "c")])
    assert [(group.title, [one.op for one in group.rows]) for group in found] == [
        ("On devices", ["b", "c"]),
        ("On the host", ["a"]),
    ]


def test_a_group_without_rows_is_none() -> None:
    """A run on the CPU has no devices."""
    assert [group.title for group in kernel_groups.of_rows([row("cpu", "a")])] == ["On the host"]


def test_columns_are_those_of_which_something_is_known() -> None:
    """By group."""
    devices, host = kernel_groups.of_rows([row("cpu", "a", "dense"), row("gpu:0", "b")])
    assert (devices.has_layer, host.has_layer, host.has_direction) == (False, True, False)


def test_rows_that_are_not_shown_are_counted() -> None:
    """60 of 65."""
    (group,) = kernel_groups.of_rows([row("cpu", str(n)) for n in range(65)])
    assert (len(group.rows), group.more) == (60, 5)
