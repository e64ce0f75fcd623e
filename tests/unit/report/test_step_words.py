"""What a step takes, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlprof.analysis.loops import FoundBy, LoopSummary
from dlprof.analysis.steps import StepSummary
from dlprof.report import step_words
from dlprof.schema.vocabulary import Loop, StepTime
from tests.unit.runs import MS

LOOP = StepSummary(Loop.TRAIN, 250, 90 * MS, 20 * MS, None, 6400.4, MS, 2 * MS, 1)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (StepTime.MEASURED, "A train step takes 20.0 ms, 6,400 samples/s."),
        (StepTime.EPOCHS, "A train step takes 20.0 ms, 6,400 samples/s (from epoch times)."),
        (StepTime.WINDOW, "A train step takes 20.0 ms, 6,400 samples/s (under the tracer)."),
    ],
)
def test_a_time_says_how_it_was_got(how: StepTime, text: str) -> None:
    """Unless it is that of the steps themselves."""
    assert step_words.sentence(replace(LOOP, how=how)) == text


def test_calls_of_evaluate_are_no_epochs() -> None:
    """They are said to be calls."""
    assert step_words.how(replace(LOOP, loop=Loop.TEST, how=StepTime.EPOCHS)) == "from the times of whole calls"


def test_a_time_that_is_not_known_says_why() -> None:
    """In a sentence."""
    loop = replace(LOOP, median_ns=None, how=None, unknown="Nobody waited.")

    assert step_words.sentence(loop) == "What a train step takes is not known: Nobody waited."


def test_steps_of_a_loop_that_is_not_known_are_only_steps() -> None:
    """A foreign trace may hold steps without what they do."""
    assert [step_words.kind(Loop.TRAIN), step_words.kind(Loop.UNKNOWN)] == ["train step", "step"]


def test_a_loop_of_the_script_s_own_says_where_it_is() -> None:
    """And that nobody told it."""
    found = LoopSummary("fit", FoundBy.INFERRED, "train.py", 7, 6, 1200, 3)

    assert (
        step_words.place(found)
        == "fit at train.py:7: 6 epochs, 1,200 steps, in 3 runs of the loop; inferred, without marks"
    )
    assert step_words.own_loop([found]) == "; inferred from the loop at train.py:7"


def test_a_loop_of_keras_is_not_inferred() -> None:
    """Nor is its place known, where Keras itself called it."""
    found = LoopSummary("evaluate", FoundBy.KERAS, None, None, None, 1, 1)

    assert step_words.place(found) == "evaluate at a line that is not known: 1 step"
    assert step_words.own_loop([found]) == ""
