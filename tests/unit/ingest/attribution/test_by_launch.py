"""Attribution by ranges and launches, without a word of the engine."""

from __future__ import annotations

import pytest

from dlprof.ingest.kernels.events import CPU
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled, make_trace


def test_a_kernel_has_the_label_and_the_operator_of_what_launched_it() -> None:
    """However late it ran."""
    trace = make_trace(
        [
            (EventKind.ANNOTATION, "nn.Module: Linear_0", 0, 100, CPU, 0, -1),
            (EventKind.OPERATOR, "aten::mm", 10, 50, CPU, 0, -1),
            (EventKind.RUNTIME, "cudaLaunchKernel", 20, 5, CPU, 0, 4),
            (EventKind.KERNEL, "sgemm", 500, 20, 0, 2, 4),
            (EventKind.KERNEL, "of nobody", 600, 20, 0, 2, 5),
        ],
        "launch",
    )

    found = {name: rest for name, *rest in labelled(trace)}
    assert found["sgemm"] == [("Linear_0", "forward"), "aten::mm"]
    assert found["of nobody"] == [None, None]


@pytest.mark.parametrize(
    ("annotation", "label"),
    [
        ("dlprof:layer:dense_1", ("dense_1", "forward")),
        ("dlprof:loss:", ("loss", "forward")),
        ("dlprof:metrics:", ("metrics", "forward")),
        ("dlprof:input:", ("input", None)),
        ("dlprof:optimizer:rmsprop", ("rm_sprop", "update")),
        ("Optimizer.step#SGD.step", ("SGD", "update")),
        ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", ("input", None)),
        ("ProfilerStep#3", None),
    ],
)
def test_names_of_ranges_tell_what_runs_in_them(annotation: str, label: tuple[str, str | None] | None) -> None:
    """Those of dlprof's own tracer and those of PyTorch's."""
    trace = make_trace(
        [
            (EventKind.ANNOTATION, annotation, 0, 100, CPU, 0, -1),
            (EventKind.OPERATOR, "f", 10, 50, CPU, 0, -1),
        ],
        "launch",
    )

    assert labelled(trace)[1] == ("f", label, "f")


def test_the_innermost_range_that_means_something_counts() -> None:
    """Ranges of no known meaning between it and the operator do not."""
    trace = make_trace(
        [
            (EventKind.ANNOTATION, "dlprof:layer:dense_1", 0, 100, CPU, 0, -1),
            (EventKind.ANNOTATION, "dlprof:layer:dense_2", 10, 80, CPU, 0, -1),
            (EventKind.ANNOTATION, "mine", 20, 60, CPU, 0, -1),
            (EventKind.OPERATOR, "f", 30, 10, CPU, 0, -1),
        ],
        "launch",
    )

    assert labelled(trace)[3] == ("f", ("dense_2", "forward"), "f")
