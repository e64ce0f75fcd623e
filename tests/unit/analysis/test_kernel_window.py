"""The window of the main loop, and what its events cover."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.analysis.kernel_window import Cover, covers_of_events, main_window
from dlprof.store.run import Run
from tests.unit.analysis.rows import event, in_memory, op, step, window
from tests.unit.runs import table


def windows(*rows: dict[str, Any]) -> Run:
    """A run with these windows."""
    return in_memory(kernel_windows=table("kernel_windows", list(rows)))


def test_the_window_of_the_training_is_the_main_one() -> None:
    """Then that of a prediction, and of an evaluation; the first of each."""
    test = window(0, 10, 1, loop="test")
    predict = window(10, 20, 1, loop="predict", window=1)
    train = [window(30, 40, 2, window=3), window(20, 30, 2, window=2)]

    found = [main_window(windows(*rows)) for rows in ([test, predict, *train], [test, predict], [test])]

    assert [one and (one.number, one.loop, one.begin_ns, one.end_ns) for one in found] == [
        (2, "train", 20, 30),
        (1, "predict", 10, 20),
        (0, "test", 0, 10),
    ]


def test_traces_without_steps_are_no_window_of_a_loop() -> None:
    """Foreign traces, and windows in which no step ended."""
    assert main_window(windows(window(0, 10, 0), window(0, 10, 3, loop=None))) is None


def test_a_step_is_in_the_window_that_it_began_in() -> None:
    """However long it takes."""
    found = main_window(windows(window(10, 20, 1)))

    assert found is not None
    steps = table("steps", [step(0, 9, 5), step(1, 10, 5), step(2, 19, 50), step(3, 20, 5)])
    assert found.rows_in(steps)["step"].to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("told", "cover"),
    [
        (op(0, "operator", "mm"), Cover.KERNELS),
        (op(0, "kernel", "sgemm"), Cover.KERNELS),
        (op(0, "operator", "decode", "input"), Cover.INPUT),
        (op(0, "operator", "EagerPyFunc"), Cover.PYTHON),
        (op(0, "operator", "_backward_Custom"), Cover.PYTHON),
        (op(0, "python", "f"), Cover.PYTHON),
        (op(0, "transfer", "copy"), Cover.TRANSFER),
        (op(0, "wait", "sync"), Cover.WAIT),
        ({**op(0, "operator", "gloo:all_reduce"), "category": "collective"}, Cover.WAIT),
        ({**op(0, "kernel", "ncclKernel_AllReduce"), "category": "collective"}, Cover.KERNELS),
        (op(0, "runtime", "launch"), Cover.RUNTIME),
        (op(0, "input", "next"), Cover.INPUT),
    ],
)
def test_an_event_covers_what_its_operator_is(told: dict[str, Any], cover: Cover) -> None:
    """And nothing else."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [told]),
        kernel_events=table("kernel_events", [event(0, 10, 5)]),
        kernel_windows=table("kernel_windows", [window(0, 100, 1)]),
    )
    found = main_window(run)

    assert found is not None
    covers = covers_of_events(run, found)
    assert {
        kind: list(zip(spans.begin, spans.end, strict=True)) for kind, spans in covers.items() if len(spans.begin)
    } == {cover: [(10, 15)]}


def test_an_operator_that_is_mostly_others_is_no_work_of_its_own() -> None:
    """Annotations cover nothing, and other windows do not count."""
    assert kernels_begin(event(0, 0, 10, nested_ns=6), event(0, 20, 10, nested_ns=5), event(2, 0, 99), OTHER) == [20]


def test_beside_a_device_that_computes_operators_of_the_host_are_no_kernels() -> None:
    """They launch its kernels: their time is dispatch, and a kernel counts whatever runs inside it."""
    assert kernels_begin(event(0, 20, 10, nested_ns=5), event(1, 40, 10, 0, nested_ns=9), OTHER) == [40]


OTHER = event(0, 70, 10, window=1)


def kernels_begin(*events: dict[str, Any]) -> list[int]:
    """When the kernels of window 0 begin: operators are 0, kernels 1, annotations 2."""
    run = in_memory(
        kernel_ops=table("kernel_ops", [op(0, "operator", "mm"), op(1, "kernel", "k"), op(2, "annotation", "a")]),
        kernel_events=table("kernel_events", list(events)),
        kernel_windows=table("kernel_windows", [window(0, 100, 1)]),
    )
    found = main_window(run)

    assert found is not None
    begins: list[int] = covers_of_events(run, found)[Cover.KERNELS].begin.tolist()
    return begins
