"""The outside exam as text and JSON."""

from __future__ import annotations

import json

from dlprof.trials.outside import report
from tests.unit.trials.outside.cases import answer, problem, said
from tests.unit.trials.outside.test_figures import ANSWERS


def test_the_json_has_what_was_said_of_each_problem() -> None:
    """What could not be judged is null, and so are the times of a run that failed."""
    told = json.loads(report.as_text(report.as_json(ANSWERS, 5)))

    assert (told["schema"], told["asked"], len(told["problems"])) == ("dlprof.exam-outside/1", 5, 4)
    first, *_, failed = told["problems"]
    assert (first["rank"], first["line_right"], first["fix_named"], first["cost_ns"]) == (1, True, True, 60)
    assert first["said"][0]["next_step"] == "less often"
    assert (failed["rank"], failed["silent"], failed["buggy_ns"]) == (None, None, None)
    assert failed["failed"] == "buggy.py: the run ended with exit code 1"


def test_the_table_counts_a_problem_that_failed() -> None:
    """And says why it did."""
    text = report.as_markdown(ANSWERS)

    assert "| all | 4 (1 failed) | 1 | 2 | 1 | 1 | 1 of 2 | 1 of 2 | 1 of 1 | 0 of 0 | 2 | 1 | 1 | 0 |" in text
    assert "failed: buggy.py: the run ended with exit code 1" in text


def test_a_row_says_what_came_first_and_what_was_false() -> None:
    """Of a held-out problem in an own loop, three times as slow as its fix."""
    held = problem("b", held_out=True, keras=False)
    given = answer(said("input-bound", 0.4), problem=held, on_fixed=(said("gc-pressure"),), buggy_ns=30, fixed_ns=10)

    row = report.as_markdown([given]).splitlines()[-1]

    assert row == (
        "| b (held out) | torch | checkpoint-heavy, io-bound | input-bound 40% | - | - | 3.0 x | - | - | gc-pressure 30% |"
    )


def test_one_line_says_how_it_went() -> None:
    """While the exam goes on."""
    assert report.in_short(ANSWERS[1]) == "rank 2 of input-bound 30%, io-bound 30%; as a pair -"
    assert report.in_short(ANSWERS[3]) == "failed: buggy.py: the run ended with exit code 1"
