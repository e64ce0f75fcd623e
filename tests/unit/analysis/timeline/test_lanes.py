"""Slices on lanes nest or do not touch."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dlprof.analysis.timeline.lanes import closings, lanes


def lanes_of(*slices: tuple[int, int]) -> list[list[int]]:
    """Which slices (start, end) stand together."""
    starts, ends = (np.array([one[at] for one in slices], np.int64) for at in (0, 1))
    return [lane.tolist() for lane in lanes(starts, ends)]


def test_slices_that_nest_share_a_lane() -> None:
    """The outer one comes first, whatever order they came in."""
    assert lanes_of((2, 5), (0, 10), (0, 2), (5, 10)) == [[1, 2, 0, 3]]


def test_slices_that_overlap_in_part_stand_on_different_lanes() -> None:
    """And what follows goes to the first lane that is free."""
    assert lanes_of((0, 10), (5, 15), (12, 20), (15, 16)) == [[0, 2, 3], [1]]


def test_a_slice_without_duration_stands_where_another_ends() -> None:
    """It is not inside the one that ends there."""
    starts, ends = np.array([0, 10, 10]), np.array([10, 10, 12])

    assert [lane.tolist() for lane in lanes(starts, ends)] == [[0, 2, 1]]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=40))
def test_lanes_lose_nothing_and_never_overlap(slices: list[tuple[int, int]]) -> None:
    """Whatever the slices are."""
    starts = np.array([start for start, _ in slices], np.int64)
    ends = starts + np.array([dur for _, dur in slices], np.int64)

    found = lanes(starts, ends)

    assert sorted(at for lane in found for at in lane.tolist()) == list(range(len(slices)))
    for lane in found:
        for place, at in enumerate(lane.tolist()):
            for other in lane[place + 1 :].tolist():
                assert starts[other] >= ends[at] or ends[other] <= ends[at]


def test_slices_close_before_the_next_begins() -> None:
    """From the inside out, and all that is left at the end."""
    found = list(closings(np.array([0, 0, 4]), np.array([10, 4, 6])))

    assert found == [(0, []), (1, []), (2, [4]), (-1, [6, 10])]
