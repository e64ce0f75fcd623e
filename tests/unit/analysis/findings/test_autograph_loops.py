"""Loops of functions that TensorFlow rewrites before it traces them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import autograph_loops
from dlprof.analysis.findings.case import Case
from dlprof.analysis.stacks import Frame
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, quiet

SCRIPT = """\
def rollout(model, paths):
    for t in range(12):
        state = model(paths[t])
    for t in range(90):
        state = model(state)
    return state
"""
MADE = "__autograph_generated_fileab.py"
CONTROL = "tensorflow/python/autograph/operators/control_flow.py"


def told(path: Path, *frames: tuple[str, str]) -> tuple[str, int] | None:
    """The loop of a stack: (name, file), innermost first."""
    row = {"file": "train.py", "function": "<module>", "first_line": 1, "line": 1, "hits": 1, "time_ns": 1}
    run = runs.trained(path, **quiet(lines=[row]))
    keep_source(run, SCRIPT)
    return autograph_loops.of_frames(Case(run), [Frame(name, file, 9) for name, file in frames])


@pytest.mark.parametrize(("body", "line"), [("loop_body", 2), ("loop_body_1", 4)])
def test_a_turn_is_of_the_loop_that_its_body_is_numbered_by(body: str, line: int, tmp_path: Path) -> None:
    """As a rollout of 90 turns was recorded."""
    stack = [("tf__cell", MADE), (body, MADE), ("_py_for_stmt", CONTROL), ("for_stmt", CONTROL), ("tf__rollout", MADE)]

    assert told(tmp_path / "r", *stack) == ("train.py", line)


def test_a_loop_that_is_one_operation_has_no_turns(tmp_path: Path) -> None:
    """Over `tf.range`."""
    stack = [("loop_body", MADE), ("_tf_range_for_stmt", CONTROL), ("for_stmt", CONTROL), ("tf__rollout", MADE)]

    assert told(tmp_path / "r", *stack) is None


def test_functions_that_no_file_of_the_script_has_are_passed_over(tmp_path: Path) -> None:
    """Those of a package."""
    assert told(tmp_path / "r", ("loop_body", MADE), ("_py_for_stmt", CONTROL), ("tf__call", MADE)) is None
