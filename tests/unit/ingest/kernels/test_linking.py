"""Which call launched which kernel."""

from __future__ import annotations

from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.linking import link
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import make_trace


def test_a_kernel_is_linked_to_its_call_and_to_the_operator_around_it() -> None:
    """One without a call is linked to nothing; own time is what nothing inside has."""
    events = make_trace(
        [
            (EventKind.OPERATOR, "linear", 0, 100, CPU, 0, -1),
            (EventKind.OPERATOR, "mm", 10, 50, CPU, 0, -1),
            (EventKind.RUNTIME, "launch", 20, 5, CPU, 0, 4),
            (EventKind.KERNEL, "sgemm", 500, 20, 0, 2, 4),
            (EventKind.KERNEL, "other", 600, 20, 0, 2, 5),
        ],
        "launch",
    ).events.take()

    linked = link(events)

    assert linked.launch.tolist() == [-1, -1, -1, 2, -1]
    assert linked.operator.tolist() == [-1, -1, -1, 1, -1]
    assert linked.parent.tolist() == [-1, 0, 1, -1, -1]
    assert linked.nested.tolist() == [50, 5, 0, 0, 0]


def test_operators_that_reach_out_of_others_are_counted() -> None:
    """By more than what rounding makes."""
    events = make_trace(
        [
            (EventKind.OPERATOR, "a", 0, 10_000, CPU, 0, -1),
            (EventKind.OPERATOR, "b", 5_000, 10_000, CPU, 0, -1),
        ],
        "launch",
    ).events.take()

    assert link(events).overlapping == 1
