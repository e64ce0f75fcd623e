"""Gradients that are taken of one loss several times."""

from __future__ import annotations

from dlprof_probes.inproc.inferred.gradients import SameLoss


class Loss:
    """One that can be referred to weakly."""


def test_all_calls_for_a_loss_but_the_longest_are_told() -> None:
    """30 + 50 + 20: the one of 50 goes as far back as all of them."""
    same, loss = SameLoss(), Loss()
    for took in (30, 50, 20):
        same.taken(loss, took, ("train.py", 9))
    same.over()

    assert (same.losses, same.calls, same.more_ns, same.place) == (1, 3, 50, ("train.py", 9))


def test_one_gradient_of_each_loss_is_nothing() -> None:
    """Nobody keeps a graph for that."""
    same, losses = SameLoss(), [Loss(), Loss()]
    for loss in losses:
        same.taken(loss, 30, ("train.py", 9))
    same.over()

    assert (same.losses, same.calls, same.more_ns) == (0, 0, 0)


def test_a_loss_that_is_gone_is_not_the_next_one_at_its_place() -> None:
    """The number of an object is given to others."""
    same = SameLoss()
    for _ in range(3):
        same.taken(Loss(), 30, ("train.py", 9))
    same.over()

    assert same.losses == 0
