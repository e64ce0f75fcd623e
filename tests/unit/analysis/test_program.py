"""Which rows are the program's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import program
from tests.unit.runs import S, make, manifest

STACK = {"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": S, "stack_id": 0}


def stacks(*pids: int) -> list[dict[str, Any]]:
    """A row of `stacks` of each process."""
    return [{**STACK, "pid": pid} for pid in pids]


def test_stacks_of_children_are_not_the_programs(tmp_path: Path) -> None:
    """The traced process is 42."""
    run = make(tmp_path, stacks=stacks(42, 43, 44))

    assert program.others(run) == {43, 44}
    assert program.rows_of(run.table("stacks"), {43, 44})["pid"].to_pylist() == [42]


def test_below_a_shell_each_python_is_the_program_but_for_workers(tmp_path: Path) -> None:
    """The shell has no stacks."""
    processes = [{"pid": 42, "role": "main"}, {"pid": 43, "role": "child"}, {"pid": 44, "role": "worker"}]
    run = make(tmp_path, stacks=stacks(43, 44), processes=processes)

    assert program.others(run) == {44}


def test_processes_of_foreign_traces_are_all_alike(tmp_path: Path) -> None:
    """Nobody says which of them is the program."""
    run = make(tmp_path, manifest(state="imported"), stacks=stacks(1, 2))

    assert program.others(run) == frozenset()
