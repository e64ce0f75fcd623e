"""Sums over the steps of each loop."""

from __future__ import annotations

from typing import Any

from dlprof.analysis import loop_sums
from dlprof.schema.vocabulary import Loop
from tests.unit.runs import MS, S, steps, table

WINDOW = [{"window": 0, "loop": "train", "start_ns": 2 * S + 60 * MS, "dur_ns": 40 * MS, "steps": 2}]


def rows() -> list[dict[str, Any]]:
    """Ten training steps: the first compiles, two are traced, and the last stands for four; then three of a test."""
    found = steps(10, input_ns=2 * MS, wait_ns=None)
    for n, row in enumerate(found):
        row["dur_ns"] = (10 + n) * MS
    found[0]["compiled"] = found[0]["first"] = True
    found[9] |= {"count": 4, "dur_ns": 38 * MS, "samples": 512, "wait_ns": 5}
    return [*found, *({**row, "loop": "test", "loop_id": 2, "samples": None} for row in steps(3, start_s=4.0))]


def test_sums_are_those_of_each_loop() -> None:
    """Steps, not rows; the first one's time has its wait for the batch."""
    train, test = (loop_sums.of_pieces(lambda: [table("steps", rows())], table("kernel_windows", []))[loop]
                   for loop in (Loop.TRAIN, Loop.TEST))  # fmt: skip
    assert (train.rows, train.steps, train.compiled, train.waits, train.first_ns) == (10, 13, 1, 1, 12 * MS)
    assert (train.steady.steps, train.steady.samples, train.steady.unknown, train.loop_ids) == (12, 1536, 0, {1})
    assert (test.steps, test.steady.unknown, test.median_ns) == (3, 3, 20 * MS)


def test_steady_steps_are_neither_compiled_nor_traced() -> None:
    """Nine rows less the two of the window: four steps of 10 ms, and 13, 14, 17, 18, 19 and 20 ms with their waits."""
    sums = loop_sums.of_pieces(lambda: [table("steps", rows())], table("kernel_windows", WINDOW))[Loop.TRAIN]
    assert (sums.steady.rows, sums.steady.steps) == (7, 10)
    assert (sums.median_ns, sums.p95_ns) == (int(13.5 * MS), int(19.55 * MS))
    assert (sums.call_median_ns, sums.input_median_ns) == (20 * MS, 2 * MS)


def test_where_all_were_traced_those_are_compared() -> None:
    """As in a run that one window covers."""
    window = [{**WINDOW[0], "start_ns": 0, "dur_ns": 100 * S}]
    sums = loop_sums.of_pieces(lambda: [table("steps", rows())], table("kernel_windows", window))[Loop.TRAIN]
    assert (sums.plain.rows, sums.steady.rows) == (0, 9)


def test_pieces_give_what_the_whole_gives() -> None:
    """Cut anywhere, also where the first step comes late."""
    told = [*rows()[5:], *rows()[:5]]
    whole = loop_sums.of_pieces(lambda: [table("steps", told)], table("kernel_windows", WINDOW))
    for cut in range(1, len(told)):
        parts = [table("steps", told[:cut]), table("steps", told[cut:])]
        assert loop_sums.of_pieces(lambda: parts, table("kernel_windows", WINDOW)) == whole  # noqa: B023


def test_a_loop_of_nothing_but_first_steps_has_no_median() -> None:
    """Not 0."""
    only = [{**row, "compiled": True} for row in steps(2)]
    sums = loop_sums.of_pieces(lambda: [table("steps", only)], table("kernel_windows", []))[Loop.TRAIN]
    assert (sums.steps, sums.median_ns, sums.p95_ns, sums.call_median_ns) == (2, None, None, None)


def test_a_loop_of_an_unknown_name_is_passed_over() -> None:
    """A table of a stranger may say any; the others keep their figures."""
    told = [*steps(3), *({**row, "loop": "<script>"} for row in steps(2))]
    assert set(loop_sums.of_pieces(lambda: [table("steps", told)], table("kernel_windows", []))) == {Loop.TRAIN}
