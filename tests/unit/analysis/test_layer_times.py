"""Kernel time by layer, as shares of a known time."""

from __future__ import annotations

from dlprof.analysis import layer_times
from dlprof.analysis.layer_times import LayerTime
from tests.unit.analysis.rows import event, in_memory, op
from tests.unit.runs import table

RUN = in_memory(
    kernel_ops=table("kernel_ops", [
        op(0, "operator", "mm", "dense", "forward", category="matmul"), op(1, "operator", "decode", "input"),
        op(2, "operator", "PyFunc", "dense", "forward"), op(3, "operator", "add", None, None, category="elementwise"),
        op(4, "wait", "sync"),
    ]),
    kernel_events=table("kernel_events", [
        event(0, 0, 30), event(1, 30, 50), event(2, 80, 20), event(3, 100, 10), event(4, 110, 90),
        event(0, 500, 1000, window=1),
    ]),
)  # fmt: skip
MATMUL = LayerTime("dense", "forward", "mm", "matmul", 75)
ADD = LayerTime(None, None, "add", "elementwise", 25)


def test_time_is_shared_by_the_kernels_of_the_model() -> None:
    """Three parts to one; input pipelines, Python and waits have none, nor has another window."""
    assert layer_times.shares(RUN, 100, window=0) == (MATMUL, ADD)


def test_without_kernels_nobody_has_a_share() -> None:
    """Nothing is guessed."""
    assert layer_times.shares(in_memory(), 100, window=None) == ()


def test_measured_kernels_have_their_own_time() -> None:
    """All kernels and operators, also those of input."""
    assert {layer.op: layer.ns for layer in layer_times.measured(RUN)} == {
        "mm": 1030,
        "decode": 50,
        "PyFunc": 20,
        "add": 10,
    }


def test_beside_kernels_of_a_device_operators_of_the_host_have_no_share() -> None:
    """They launch these: the time is that of the device."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [op(0, "operator", "mm"), op(1, "kernel", "sgemm", category="matmul")]),
        kernel_events=table("kernel_events", [event(0, 0, 900), event(1, 50, 10, 0)]),
    )

    assert layer_times.shares(run, 100, window=0) == (LayerTime(None, None, "sgemm", "matmul", 100),)
    assert [layer.ns for layer in layer_times.measured(run)] == [10]


def test_categories_are_sums_and_unknown_ones_are_other() -> None:
    """A reader may be of another make."""
    odd = LayerTime("x", None, None, "quantum", 5)
    none = LayerTime("x", None, None, None, 2)

    assert layer_times.by_category([MATMUL, ADD, MATMUL, odd, none]) == {
        "matmul": 150,
        "elementwise": 25,
        "other": 7,
    }
