"""What runs inside what, and unions of intervals."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.kernels.nesting import merge, nest, union_ns


def test_nesting_finds_the_innermost_event_around_each() -> None:
    """In lanes of their own; an event that reaches out of its parent is cut and marked."""
    lane = np.array([0, 0, 0, 0, 1])
    tree = nest(lane, np.array([0, 10, 20, 50_000, 5]), np.array([100_000, 30_000, 5, 90_000, 10]))

    assert tree.parent.tolist() == [-1, 0, 1, 0, -1]
    assert tree.end.tolist() == [100_000, 30_010, 25, 100_000, 15]
    assert tree.overlapping.tolist() == [False, False, False, True, False]
    assert tree.at(np.array([0, 0, 1, 1]), np.array([22, 45_000, 7, 99])).tolist() == [2, 0, 4, -1]


def test_an_event_around_a_moment_is_found_however_far_apart_the_times_are() -> None:
    """Where lane and time do not fit into one number, and where they do."""
    for far in (10**6, 2**61):
        tree = nest(np.array([0, 0, 7, 7]), np.array([-far, 0, 5, far]), np.array([10, 10, 100, 10]))

        at = tree.at(np.array([0, 0, 7, 7, 7, 3]), np.array([1 - far, 11, 4, 6, far, 5]))

        assert at.tolist() == [0, -1, -1, 2, 3, -1]


def test_unions_of_intervals() -> None:
    """Overlapping, touching, apart, and none."""
    starts, ends = np.array([0, 5, 20, 30]), np.array([10, 12, 30, 31])

    assert [part.tolist() for part in merge(starts, ends)] == [[0, 20], [12, 31]]
    assert union_ns(starts, ends) == 23
    assert union_ns(np.empty(0, np.int64), np.empty(0, np.int64)) == 0
