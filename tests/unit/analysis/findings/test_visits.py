"""How often lines were seen to be come to."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis.findings import visits
from dlprof.analysis.stacks import Frame
from tests.unit import runs
from tests.unit.analysis.findings.cases import quiet, sampled

MAIN = Frame("main", "train.py", 40)


def step(line: int) -> tuple[Frame, ...]:
    """The program in a line of `step`, which line 40 of `main` called, in an operation of the engine's."""
    return (Frame("mul", "tensorflow/math.py", 5), Frame("step", "train.py", line), MAIN)


def test_a_line_is_come_to_where_its_function_was_at_another() -> None:
    """Line 28 three times; that of the caller once, for it stands all the time. Frames of others do not count."""
    stacks = [step(28), step(28), step(30), step(28), step(30), step(28)]

    assert dict(visits.counted(stacks, {"train.py"})) == {("train.py", 28): 3, ("train.py", 30): 2, ("train.py", 40): 1}


def test_a_stack_that_was_read_in_part_is_no_visit() -> None:
    """The outer frames are missing once, and the inner ones."""
    stacks = [step(28), step(28)[:1], step(28), (MAIN,), step(28)]

    assert dict(visits.counted(stacks, {"train.py"})) == {("train.py", 28): 1, ("train.py", 40): 1}


def test_of_a_function_that_calls_itself_the_innermost_counts() -> None:
    """Its outer line is no other place of the program."""
    deep = (Frame("walk", "train.py", 9), Frame("walk", "train.py", 12))

    assert dict(visits.counted([deep, deep, deep], {"train.py"})) == {("train.py", 9): 1}


def test_the_main_thread_s_stacks_are_looked_at_in_order_of_time(tmp_path: Path) -> None:
    """Written in another order: 30, 28, 28 is one visit of each."""
    stood = sampled((4, 5, [("f", "train.py", 28)]), (2, 3, [("f", "train.py", 30)]), (3, 4, [("f", "train.py", 28)]))
    run = runs.trained(tmp_path / "r", **quiet(**stood))

    assert dict(visits.of_run(run, {"train.py"})) == {("train.py", 28): 1, ("train.py", 30): 1}
