"""What the planes and lines of an XSpace are for."""

from __future__ import annotations

import pytest

from dlprof.ingest.parse.xroles import PlaneRole, Role, line_role, plane_role, stream_number, why_unread


def test_planes_of_devices_and_hosts_are_told_by_their_names() -> None:
    """A SparseCore is a part of the TPU that it is on; what is of no device and no host's threads is not read."""
    assert plane_role("/device:GPU:3") == PlaneRole(3)
    assert plane_role("/device:TPU:2") == PlaneRole(2, is_tpu=True)
    assert plane_role("/device:TPU:2 SparseCore 1") == PlaneRole(2, is_tpu=True, part="SparseCore 1")
    assert plane_role("/host:CPU") == PlaneRole(-1)
    assert plane_role("/host:metadata") is None
    assert plane_role("#Chip0 Non-Core HBM") is None


@pytest.mark.parametrize(
    ("plane", "line", "role"),
    [
        ("/device:GPU:0", "Stream #13(Compute)", Role.KERNELS),
        ("/device:GPU:0", "XLA Ops", Role.UNREAD),
        ("/device:GPU:0", "Steps", Role.RANGES),
        ("/device:TPU:0", "XLA Ops", Role.OPERATIONS),
        ("/device:TPU:0", "Async XLA Ops", Role.BESIDE),
        ("/device:TPU:0", "XLA Modules", Role.RANGES),
        ("/device:TPU:0", "Framework Ops", Role.UNREAD),
        ("/device:TPU:0 SparseCore 0", "Sparse Core Steps", Role.RANGES),
        ("/host:CPU", "main", Role.HOST),
    ],
)
def test_a_line_is_read_once_by_what_it_holds(plane: str, line: str, role: Role) -> None:
    """On a GPU the line of XLA's operations repeats what the streams tell."""
    found = plane_role(plane)

    assert found is not None
    assert line_role(found, line) is role


def test_a_stream_has_its_number_and_a_line_that_is_not_read_a_reason() -> None:
    """One that is not known repeats others."""
    assert stream_number("Stream #13(Compute)") == 13
    assert stream_number("Steps") is None
    assert why_unread("_counters_") == "values of counters; there is no table for them"
    assert why_unread("Framework Ops") == "they repeat, sorted otherwise, what other lines of the device tell"
