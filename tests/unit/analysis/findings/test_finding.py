"""Sentences, and what is put into them."""

from __future__ import annotations

import pytest

from dlprof.analysis.findings.finding import AtStake, Sentence
from dlprof.schema.vocabulary import Whole
from tests.unit.runs import S

A_TENTH = AtStake(S, 10 * S, Whole.WALL)


def test_the_time_and_its_share_follow_the_sentence() -> None:
    """With a point behind them."""
    assert Sentence("It was slow:").tell(A_TENTH) == "It was slow: 1.00 s, 10 % of the wall time."


def test_a_sentence_may_go_on() -> None:
    """After the share."""
    assert Sentence("It takes", ", too.").tell(A_TENTH) == "It takes 1.00 s, 10 % of the wall time, too."


def test_of_a_pair_the_share_is_that_of_the_gap() -> None:
    """And the time may be what one run spends more."""
    told = Sentence("It takes", more=True).tell(AtStake(S, 4 * S, Whole.GAP))

    assert told == "It takes 1.00 s more, 25 % of the gap."


def test_what_is_more_than_the_whole_gap_is_told_as_a_multiple_of_it() -> None:
    """Other parts are shorter: no share of the gap can be 150 %."""
    told = Sentence("It takes", more=True).tell(AtStake(6 * S, 4 * S, Whole.GAP))

    assert told == "It takes 6.00 s more, 1.5 x the gap (other parts are shorter, and make it smaller)."


@pytest.mark.parametrize("name", ["{v2}", "{", "}", "{0}", "{time}", "%s", "%(time)s", "$time", "\\1"])
def test_names_are_no_templates(name: str) -> None:
    """Whatever signs a file of the user's has."""
    told = Sentence(f"{name} is slow:", f" in {name}.").tell(A_TENTH)

    assert told == f"{name} is slow: 1.00 s, 10 % of the wall time in {name}."
