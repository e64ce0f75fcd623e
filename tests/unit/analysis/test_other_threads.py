"""Lines at which other threads stood."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import other_threads
from tests.unit.runs import S, trained


def test_lines_of_the_users_on_other_threads_are_told_by_file(tmp_path: Path) -> None:
    """Those of the main thread are not among them, nor are those of libraries."""
    stack = {"start_ns": 2 * S, "dur_ns": S}
    run = trained(
        tmp_path / "r",
        lines=[
            {"file": "train.py", "function": "f", "first_line": 1, "line": 1, "hits": 1, "time_ns": S, "source": ""}
        ],
        stacks=[
            {**stack, "thread_id": 1, "thread": "MainThread", "stack_id": 1},
            {**stack, "thread_id": 2, "thread": "Thread-1", "stack_id": 2},
        ],
        frames=[
            {"stack_id": 1, "depth": 0, "function": "f", "file": "train.py", "line": 3},
            {"stack_id": 2, "depth": 0, "function": "g", "file": "train.py", "line": 8},
            {"stack_id": 2, "depth": 1, "function": "wait", "file": "threading.py", "line": 9},
        ],
    )

    assert other_threads.lines_of(run) == {"train.py": {8}}
