"""When first steps of loops of the script's own began, by stacks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dlprof.analysis.first_steps import First, Places, begin_ns, lines_of
from tests.unit.runs import MS, table

SOURCE = """\
data = make()
for epoch in range(9):
    shuffle(data)
    for row in data:
        step(row)
print(1)
def train():
    for row in data:
        step(row)
"""
FIRST = First(loop_id=1, thread=7, file="train.py", line=4, start_ns=100 * MS, end_ns=1000 * MS, usual_ns=20 * MS)
DATA, STEP, TORN = 0, 1, 2
"""Stacks: line 1, line 5, and one whose outermost frame was not read."""


def begin(*stretches: tuple[int, int, int], compiled: Sequence[tuple[int, int]] = ()) -> int:
    """Begin of that step (ms) by stretches: begin and end (ms), and the stack."""
    rows = [{"start_ns": at * MS, "dur_ns": (end - at) * MS, "stack_id": stack} for at, end, stack in stretches]
    return begin_ns(FIRST, rows, {STEP}, {DATA, STEP}, [(at * MS, end * MS) for at, end in compiled]) // MS


def test_a_step_begins_where_stacks_are_in_its_loop_no_earlier() -> None:
    """It was told from 100 ms on, where an optimiser was made; data were made up to 800."""
    assert begin((0, 800, DATA), (800, 1000, STEP)) == 800


def test_a_step_without_a_sample_in_its_loop_takes_as_long_as_others_do() -> None:
    """The next sample, at 1040 ms, shows a later step: 20 ms are usual."""
    assert begin((0, 1040, DATA), (1040, 1100, STEP)) == 980


def test_what_is_compiled_right_before_the_end_is_a_part_of_the_step() -> None:
    """Between two samples; what is compiled before a sample elsewhere is none."""
    rows = (0, 500, DATA), (500, 1040, DATA), (1040, 1100, STEP)

    assert begin(*rows, compiled=[(300, 400), (600, 950)]) == 600


@pytest.mark.parametrize("stretches", [[(100, 1000, STEP)], [(0, 90, DATA), (90, 1000, STEP)], [(100, 700, TORN)], []])
def test_without_a_stack_elsewhere_a_step_begins_as_events_tell(stretches: Sequence[tuple[int, int, int]]) -> None:
    """In the loop all the time, elsewhere before, read in part, or not sampled."""
    assert begin(*stretches) == 100


def test_the_lines_of_a_loop_are_those_of_the_loop_of_epochs_too() -> None:
    """What is between the two is no preparation; a loop in a function is by itself."""
    texts = SOURCE.splitlines()

    assert (lines_of(texts, 4), lines_of(texts, 8)) == (range(2, 6), range(8, 10))


def test_a_loop_that_the_source_does_not_have_has_no_lines() -> None:
    """A line without one, and a text that is no Python."""
    assert (lines_of(SOURCE.splitlines(), 5), lines_of(["for x in"], 1)) == (None, None)


def test_stacks_are_in_a_loop_by_any_frame_and_whole_by_their_outermost() -> None:
    """One at line 5, one elsewhere, and one that lacks the module's frame."""
    names = ("stack_id", "depth", "function", "file", "line")
    rows = [(0, 0, "<module>", "train.py", 1), (1, 0, "<module>", "train.py", 5), (1, 1, "step", "lib.py", 70)]
    frames = table("frames", [dict(zip(names, row, strict=True)) for row in [*rows, (2, 0, "step", "lib.py", 70)]])
    places = Places(frames)

    assert (places.are_in("train.py", range(2, 6)), places.whole([0, 1, 2])) == ({1}, {0, 1})
