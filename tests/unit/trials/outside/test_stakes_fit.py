"""How far costs are from what was told."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from dlprof.analysis.findings.stakes import RATIOS
from dlprof.schema.vocabulary import Ground
from dlprof.trials.outside import stakes_fit
from dlprof.trials.outside.answers import Answer
from dlprof.trials.outside.stakes_fit import OfStakes
from tests.unit.trials.outside.cases import answer, problem, said


def told(stake_ns: int, **changes: Any) -> Answer:
    """A problem that costs 100 ns, of which so much was told, by a model."""
    finding = structs.replace(said("io-bound", at_stake_ns=stake_ns), ground=Ground.MODEL)
    return answer(finding, buggy_ns=150, fixed_ns=50, **changes)


def test_nine_in_ten_costs_are_between_the_two() -> None:
    """Twenty-one problems cost 0.50, 0.55 ... 1.50 times what was told: the first and the last are outside."""
    answers = [told(round(100 / (0.5 + 0.05 * number))) for number in range(21)]
    found = {one.ground: one for one in stakes_fit.of_answers(answers)}

    assert found[Ground.MODEL] == OfStakes(Ground.MODEL, 21, 0.55, 1.45, RATIOS[Ground.MODEL])
    assert found[Ground.STATED] == OfStakes(Ground.STATED, 0, None, None, RATIOS[Ground.STATED])


def test_held_out_problems_fit_nothing() -> None:
    """They are to test what was fitted; nor do those that were not found."""
    answers = [told(100, problem=problem(held_out=True)), answer(said("gc-pressure"), buggy_ns=9, fixed_ns=3)]

    assert sum(one.problems for one in stakes_fit.of_answers(answers)) == 0
