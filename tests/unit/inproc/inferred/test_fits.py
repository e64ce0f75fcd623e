"""What a training's loops are known by: which are its own, and when the innermost begins anew."""

from __future__ import annotations

import pytest
from dlprof_probes.inproc.inferred.feeds import Feed
from dlprof_probes.inproc.inferred.fits import Count, own_loops


@pytest.mark.parametrize(
    ("path", "feed_path", "own"),
    [
        (("batches", "epochs", "folds"), None, {"batches", "epochs"}),
        (("batches", "epochs", "folds"), ("epochs", "folds"), {"batches", "epochs"}),
        (("batch", "groups", "epochs", "folds"), ("epochs", "folds"), {"batch", "groups", "epochs"}),
        (("batch", "groups", "epochs", "folds"), ("groups", "epochs", "folds"), {"batch", "groups"}),
    ],
)
def test_the_loops_of_batches_and_epochs_are_a_training_s_own(
    path: tuple[str, ...], feed_path: tuple[str, ...] | None, own: set[str]
) -> None:
    """Not those of folds; where batches are fetched in groups, the loop of groups is between."""
    feed = None if feed_path is None else Feed(0, feed_path, ("train.py", 3), {}, False)

    assert own_loops(path, feed) == own


def test_numbers_that_count_up_tell_where_another_pass_begins() -> None:
    """0, 1, 2, and 0 again."""
    count, told = Count(), []
    for number in (0, 1, 2, 0, 1):
        told.append(count.begins_anew(number))
        count.seen(number)

    assert told == [False, False, False, True, False]


def test_numbers_in_another_order_tell_nothing() -> None:
    """Of rows that are drawn: the first one comes again by chance."""
    count, told = Count(), []
    for number in (4, 7, 5, 9, 4):
        told.append(count.begins_anew(number))
        count.seen(number)

    assert told == [False] * 5
