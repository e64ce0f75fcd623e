"""Batches that lie in the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from dlprof_probes.inproc.passed_again import Passed


def given(batches: list[Any], epoch: int = 0) -> Any:
    """What is told of a first epoch with these, when the second one begins."""
    passed = Passed()
    for batch in batches:
        passed.given(batch, epoch)
    return passed.given(batches[0], epoch + 1)


def test_views_of_one_array_are_counted_by_where_they_lie() -> None:
    """Five times over four batches; nothing more is wanted then."""
    data, goal = np.zeros((40, 3)), np.zeros(40)
    batches = [(data[n : n + 10], goal[n : n + 10]) for n in range(0, 40, 10)] * 5

    assert given(batches) == ({"passed": {"batches": 20, "views": 20, "distinct": 4}}, False)


def test_a_view_of_a_view_lies_in_the_array_itself() -> None:
    """Shaped anew each time."""
    data = np.zeros((40, 3))

    told, _ = given([{"x": [data[:10].reshape(5, 2, 3)]} for _ in range(4)])

    assert told["passed"] == {"batches": 4, "views": 4, "distinct": 1}


def test_arrays_of_their_own_and_what_is_no_array_tell_nothing() -> None:
    """Memory that was let go is used again."""
    told, _ = given([(np.zeros(10),) for _ in range(9)] + ["text", (), None])

    assert told["passed"] == {"batches": 12, "views": 0, "distinct": 0}


def test_an_array_that_takes_the_place_of_another_one_is_new() -> None:
    """Files that are read one after another, each cut into batches, may lie in the same memory."""
    passed = Passed()
    for _ in range(8):
        data = np.zeros((40, 3))
        for n in range(0, 40, 10):
            passed.given((data[n : n + 10],), 0)
        del data

    told, _ = passed.given((), 1)

    assert told["passed"] == {"batches": 32, "views": 32, "distinct": 32}


def test_a_single_epoch_is_told_of_while_it_runs() -> None:
    """After 64 batches, and after 256."""
    passed, data = Passed(), np.zeros((64, 3))

    told = [number for number in range(1, 300) if passed.given((data[:8],), 0)[0] is not None]

    assert told == [64, 256]


def test_batches_that_are_fetched_before_an_epoch_begins_are_part_of_it() -> None:
    """Keras 3 asks for the first ones ahead."""
    passed, data = Passed(), np.zeros((64, 3))
    for epoch in (None, None, 0, 0):
        passed.given((data[:8],), epoch)

    assert passed.given((data[:8],), 1) == ({"passed": {"batches": 4, "views": 4, "distinct": 1}}, False)
