"""What is done without gradients is an evaluation between `eval()` and `train()`."""

from __future__ import annotations

from typing import Any

from dlprof_probes.inproc.inferred.stretches import Stretches

SITE: Any = "here"


def test_a_stretch_behind_eval_is_kept_until_a_model_is_trained_again() -> None:
    """Then it is known to be a part of an evaluation."""
    stretches = Stretches()
    stretches.switched_off()
    stretches.begun("no_grad", 5)

    assert (stretches.ended(), stretches.add(9, SITE), stretches.switched_on()) == (True, False, True)
    assert (stretches.take(), stretches.found) == ([(5, 9, SITE)], [])


def test_a_stretch_in_which_a_model_is_evaluated_and_trained_again_is_told_at_its_end() -> None:
    """A decorated function that calls `eval()`, and `train()` before it returns."""
    stretches = Stretches()
    stretches.begun("no_grad", 5)
    stretches.switched_off()

    assert (stretches.switched_on(), stretches.ended(), stretches.add(9, SITE)) == (False, True, True)


def test_a_stretch_of_a_model_that_is_trained_is_nothing() -> None:
    """Numbers for a log."""
    stretches = Stretches()
    stretches.begun("no_grad", 5)

    assert not stretches.ended()


def test_where_weights_are_changed_first_nothing_was_an_evaluation() -> None:
    """A teacher was asked in the step."""
    stretches = Stretches()
    stretches.switched_off()
    stretches.begun("no_grad", 5)
    stretches.ended()
    stretches.add(9, SITE)
    stretches.updated()

    assert (stretches.switched_on(), stretches.take()) == (False, [])
