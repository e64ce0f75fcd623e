"""Figures of an outside exam."""

from __future__ import annotations

from dlprof.trials.outside import figures
from dlprof.trials.outside.figures import Figures
from tests.unit.trials.outside.cases import answer, problem, said

ANSWERS = (
    answer(
        said("io-bound", line=7, step="less often", at_stake_ns=60), in_pair=(said("io-bound"),), buggy_ns=90, fixed_ns=30
    ),
    answer(
        said("input-bound"), said("io-bound", line=1), problem=problem("b", held_out=True, backend="jax", keras=False),
        on_fixed=(said("gc-pressure"),),
    ),
    answer(said("input-bound", 0.01), problem=problem("c", dlperf=None)),
    answer(problem=problem("d"), failed="buggy.py: the run ended with exit code 1"),
)  # fmt: skip


def test_the_figures_count_what_ran() -> None:
    """Four problems: one first, one second behind another story, one silent, one that failed and counts nowhere."""
    assert figures.of_all(ANSWERS)[0] == Figures(
        group="all",
        problems=4,
        failed=1,
        first=1,
        found=2,
        pair_first=1,
        pair_found=1,
        line_right=1,
        lines_judged=2,
        fix_named=1,
        fixes_judged=2,
        stake_close=1,
        stakes_judged=1,
        interval_holds=0,
        intervals_judged=0,
        other_first=2,
        silent=1,
        false_on_fixed=1,
        asked_on_fixed=0,
        machine_told=0,
    )


def test_the_two_halves_are_told_apart() -> None:
    """The held-out problem was found second; of the open ones one came first."""
    halves = {row.group: (row.problems, row.first, row.found) for row in figures.of_all(ANSWERS)[1:]}

    assert halves == {"held out": (1, 0, 1), "open": (3, 1, 1)}


def test_one_half_alone_is_not_told_twice() -> None:
    """A folder where nothing is held out has one row."""
    assert [row.group for row in figures.of_all(ANSWERS[:1])] == ["all"]


def test_backends_and_root_causes_have_rows_of_their_own() -> None:
    """With the number of their problems, in the order of their names."""
    assert [(row.group, row.problems) for row in figures.by_backend(ANSWERS)] == [
        ("jax, own loop", 1),
        ("torch, Keras", 3),
    ]
    assert [(row.group, row.problems) for row in figures.by_root_cause(ANSWERS)] == [
        ("API: inefficient API usage", 3),
        ("not in the study", 1),
    ]


def test_problems_of_the_rules_writer_are_counted_apart() -> None:
    """They are no fair measure."""
    given = [*ANSWERS, answer(said("io-bound"), problem=problem("e", by_rule_writer=True))]

    assert [row.group for row in figures.of_all(given)] == ["all", "by the rules' writer", "held out", "open"]
