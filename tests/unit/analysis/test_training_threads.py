"""Trainings on other threads than the main one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import training_threads
from dlprof.analysis.processes import TopLine
from tests.unit import runs
from tests.unit.runs import S


def trained(folder: Path, *, thread: str | None, steps_on: int = 7) -> Any:
    """A training of 40 steps from 2 s to 4 s, on thread 7 of that name."""
    fit = runs.span("fit", 2, 4, thread=thread, thread_id=7)
    tables: dict[str, Any] = {**runs.training(), "spans": [fit], "steps": runs.steps(40, thread_id=steps_on)}
    return runs.held(folder, **tables)


def test_trainings_of_other_threads_are_told_with_their_steps(tmp_path: Path) -> None:
    """And when they ran."""
    found = training_threads.of_run(trained(tmp_path / "r", thread="Thread-1 (work)"))

    assert found is not None
    assert (found.threads, found.steps, found.ran.times) == (("Thread-1 (work)",), 40, ((2 * S, 4 * S),))
    assert found.where == "the thread Thread-1 (work)"


@pytest.mark.parametrize(("thread", "steps_on"), [("MainThread", 7), (None, 7), ("", 7), ("Thread-1", 8)])
def test_a_training_of_the_main_thread_or_without_steps_is_none_of_them(
    tmp_path: Path, thread: str | None, steps_on: int
) -> None:
    """Nor is one whose thread nobody named."""
    assert training_threads.of_run(trained(tmp_path / "r", thread=thread, steps_on=steps_on)) is None


def test_a_main_thread_with_a_name_of_its_own_is_the_main_one(tmp_path: Path) -> None:
    """The script is its span."""
    spans = [
        runs.span(kind, 2, 4, thread="boss", thread_id=7, span_id=n) for n, kind in enumerate(("script", "fit"), 1)
    ]
    tables: dict[str, Any] = {**runs.training(), "spans": spans, "steps": runs.steps(40, thread_id=7)}

    assert training_threads.of_run(runs.held(tmp_path / "r", **tables)) is None


def test_lines_of_some_threads_are_told_by_their_own_samples(tmp_path: Path) -> None:
    """A quarter of them stand in a library alone."""
    frames = [
        {"stack_id": n, "depth": 0, "function": "f", "file": file, "line": line}
        for n, (file, line) in enumerate((("train.py", 5), ("torch/x.py", 1), ("train.py", 9)))
    ]
    stacks = [
        {"pid": 42, "thread_id": 7, "thread": thread, "start_ns": 0, "dur_ns": dur_s * S, "stack_id": stack}
        for thread, stack, dur_s in (("Thread-1", 0, 3), ("Thread-1", 1, 1), ("MainThread", 2, 9))
    ]
    lines = [{"file": "train.py", "function": "f", "line": 5, "time_ns": 1, "how": "sampled", "samples": 1, "pid": 42}]
    tables: dict[str, Any] = {**runs.training(), "stacks": stacks, "frames": frames, "lines": lines}
    run = runs.held(tmp_path / "r", **tables)

    assert training_threads.hot_lines(run, ("Thread-1",)) == (TopLine("train.py", 5, 0.75),)
