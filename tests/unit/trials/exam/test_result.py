"""Figures of an exam."""

from __future__ import annotations

from pathlib import Path

from dlprof.trials.exam import result, truths
from tests.unit.runs import S
from tests.unit.trials.exam.cases import GOOD, truth


def test_the_figures_of_an_exam_are_those_of_its_cases(tmp_path: Path) -> None:
    """Two planted causes: one first and 10 % too high, the other second, behind a wrong one."""
    one, two = truths.load(truth(tmp_path, GOOD))
    told = result.Result(
        (
            result.Answer(one, ("slow-callback",), 1, 11 * S, 10 * S),
            result.Answer(two, ("io-bound", "slow-callback"), 2, 5 * S, 10 * S),
        )
    )

    rows = {row.slug: row for row in result.rows(told)}

    assert (rows["all"].cases, rows["all"].first, rows["all"].recall, rows["all"].rank) == (2, 1, 1.0, 1.5)
    assert rows["all"].within == 0.5
    assert rows["slow-callback"].precision == 1.0
    assert rows["io-bound"].precision == 0.0
