"""What an allocator held at the peak of a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlprof.ingest.attribution.labels import NOBODY, Label
from dlprof.ingest.kernels import held
from dlprof.ingest.kernels.held import Allocations, HeldAtPeak
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.parse.hlo_buffers import Plan
from dlprof.schema.vocabulary import HELD_AT_PEAK, Direction

Record = tuple[int, int, int, str]
"""Time, address, bytes (0: given back), operator."""


def records(rows: Sequence[Record], allocator: Sequence[int] = ()) -> Allocations:
    """These records, of one allocator unless said."""
    texts = [*sorted({op for *_, op in rows}), "cpu", "other"]
    return Allocations(
        time_ns=np.array([time for time, *_ in rows]),
        is_given=np.array([size == 0 for _, _, size, _ in rows]),
        address=np.array([address for _, address, _, _ in rows]),
        asked=np.array([size for _, _, size, _ in rows]),
        taken=np.array([size for _, _, size, _ in rows]),
        op=np.array([texts.index(op) for *_, op in rows]),
        allocator=np.array([texts.index("cpu") + one for one in (allocator or [0] * len(rows))]),
        texts=dict(enumerate(texts)),
    )


def steps(*edges: int) -> Intervals:
    """Steps from each of these times to the next."""
    return Intervals(np.array(edges[:-1]), np.array(edges[1:]), list(range(len(edges) - 1)))


def test_the_peak_of_a_step_is_what_came_above_its_begin() -> None:
    """Of 100 and 40 bytes both are there at once; 30 came when the 100 had been given back."""
    rows = [(11, 1, 100, "a"), (12, 2, 40, "b"), (13, 1, 0, ""), (14, 3, 30, "a"), (15, 2, 0, ""), (16, 3, 0, "")]

    found = held.at_peak(records(rows), steps(10, 20), 0)

    assert found == HeldAtPeak(12, "cpu", 140, {"a": (100, 1), "b": (40, 1)})


def test_what_a_step_replaces_is_not_counted_twice() -> None:
    """Weights that are made anew in each step: 50 of the first are given back in the second, when 60 and 10 came."""
    first = [(11, 1, 50, "new")]
    second = [(21, 2, 10, "a"), (22, 1, 0, ""), (23, 3, 60, "new"), (24, 2, 0, "")]

    found = held.at_peak(records([*first, *second]), steps(10, 20, 30), 0)

    assert found == HeldAtPeak(23, "cpu", 20, {"a": (10, 1), "new": (60, 1)})


def test_the_first_of_several_steps_does_not_count() -> None:
    """What it replaced was there before the trace, so that its size is not known."""
    rows = [(11, 1, 900, "a"), (12, 1, 0, ""), (21, 1, 30, "a"), (22, 1, 0, "")]

    found = held.at_peak(records(rows), steps(10, 20, 30), 0)

    assert found is not None
    assert found.bytes == 30


def test_what_was_there_before_the_trace_changes_nothing_when_it_goes() -> None:
    """Its size is not told."""
    found = held.at_peak(records([(11, 7, 0, ""), (12, 1, 30, "a")]), steps(10, 20), 0)

    assert found is not None
    assert (found.bytes, found.by_op) == (30, {"a": (30, 1)})


def test_the_allocator_that_has_most_is_told() -> None:
    """That of a GPU, beside that of the host; times of the trace are shifted to the run's."""
    rows = [(1, 1, 30, "a"), (2, 2, 70, "b")]

    found = held.at_peak(records(rows, (0, 1)), steps(110, 120), 110)

    assert found is not None
    assert (found.allocator, found.bytes, found.time_ns) == ("other", 70, 2)


def test_steps_in_which_nothing_was_taken_tell_nothing() -> None:
    """Nor does a trace without records in its steps."""
    assert held.at_peak(records([(11, 1, 0, "")]), steps(10, 20), 0) is None
    assert held.at_peak(records([(31, 1, 10, "a")]), steps(10, 20), 0) is None


def rows_of(whole: int) -> list[tuple[str | None, str, str | None, int, int]]:
    """Rows where so much was taken, and 60 was asked for by a forward operator, 50 by its gradient, 10 by another."""
    labels = {"f": Label("dense", Direction.FORWARD), "b": Label("dense", Direction.BACKWARD), "": NOBODY}
    found = held.rows(HeldAtPeak(5, "cpu", whole, {"f": (60, 2), "b": (50, 3), "": (10, 1)}), lambda path: labels[path])
    assert {(row["name"], row["how"], row["device"]) for row in found} == {(HELD_AT_PEAK, "exact", "cpu")}
    return [(row["layer"], row["kind"], row["direction"], row["bytes"], row["count"]) for row in found]


def test_what_forward_operators_made_are_activations_by_layer() -> None:
    """All else is workspace; the rows sum to what was taken."""
    assert rows_of(120) == [
        ("dense", "activations", "forward", 60, 2),
        ("dense", "workspace", "backward", 50, 3),
        (None, "workspace", None, 10, 1),
    ]


def test_what_is_taken_beyond_what_was_asked_for_is_workspace() -> None:
    """And what was replaced, so that more was asked for, is taken from that."""
    assert rows_of(150)[2] == (None, "workspace", None, 40, 1)
    assert rows_of(100) == [("dense", "activations", "forward", 60, 2), ("dense", "workspace", "backward", 40, 3)]


def test_a_plan_is_held_as_a_whole() -> None:
    """Of 200 bytes instructions have 150 at the peak."""
    assert held.planned(Plan(200, {"a": (150, 2)})) == HeldAtPeak(None, None, 200, {"a": (150, 2)})


def test_of_several_steps_the_middle_one_is_told() -> None:
    """Operators side by side come in another order each time: peaks of 30, 90 and 40 bytes, behind a first step."""
    rows = [(11, 1, 7, "a"), (12, 1, 0, "")]
    for number, size in enumerate((30, 90, 40), 2):
        rows += [(10 * number + 1, 1, size, "a"), (10 * number + 2, 1, 0, "")]

    found = held.at_peak(records(rows), steps(10, 20, 30, 40, 50), 0)

    assert found is not None
    assert found.bytes == 40
