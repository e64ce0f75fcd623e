"""The processes of a run, with the lines in which each was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import processes
from dlprof.analysis.processes import ProcessSummary, TopLine
from dlprof.schema.vocabulary import ProcessRole
from dlprof.store.run import Run
from tests.unit.runs import S, make

MAIN = {"pid": 42, "role": "main", "parent_pid": 1, "command": "python entry", "start_ns": 0, "cpu_ns": 2 * S}
WORKER = {
    "pid": 43, "role": "worker", "name": "DataLoader worker 0", "parent_pid": 42, "command": "python entry",
    "start_ns": S, "end_ns": 4 * S, "cpu_ns": S, "peak_rss_bytes": 4096, "read_bytes": 7, "write_bytes": 8,
}  # fmt: skip
FRAMES = [
    {"stack_id": 0, "depth": 0, "function": "_worker_loop", "file": "torch/utils/data/worker.py", "line": 300},
    {"stack_id": 0, "depth": 1, "function": "__getitem__", "file": "train.py", "line": 7},
    {"stack_id": 0, "depth": 2, "function": "open", "file": "PIL/Image.py", "line": 90},
    {"stack_id": 1, "depth": 0, "function": "get", "file": "queue.py", "line": 9},
]


def stack(stack_id: int, dur_s: float, **changes: Any) -> dict[str, Any]:
    """A row of `stacks` of the worker's main thread."""
    row = {"pid": 43, "thread_id": 43, "thread": "MainThread", "start_ns": 0, "dur_ns": round(dur_s * S)}
    return {**row, "stack_id": stack_id, **changes}


def run_of(path: Path, *rows: dict[str, Any], **tables: Any) -> Run:
    """A run of 10 s with these processes."""
    return make(path, processes=list(rows), **tables)


def test_a_worker_has_its_figures_and_the_lines_in_which_it_stood(tmp_path: Path) -> None:
    """A line of the user's is told in place of the library's that it calls; other threads are not looked at."""
    lines = [{"file": "train.py", "function": "f", "line": 7, "time_ns": 1, "how": "sampled", "samples": 1, "pid": 43}]
    stacks = [stack(0, 1.5), stack(1, 0.5), stack(1, 9.0, thread="QueueFeederThread", thread_id=44)]

    found = processes.of_run(run_of(tmp_path, MAIN, WORKER, stacks=stacks, frames=FRAMES, lines=lines))

    assert found[1] == ProcessSummary(
        pid=43,
        name="DataLoader worker 0",
        role=ProcessRole.WORKER,
        cpu_ns=S,
        lifetime_ns=3 * S,
        top=(TopLine("train.py", 7, 0.75), TopLine("queue.py", 9, 0.25)),
        parent_pid=42,
        start_ns=S,
        end_ns=4 * S,
        peak_rss_bytes=4096,
        read_bytes=7,
        write_bytes=8,
    )


def test_the_program_comes_first_and_then_those_that_used_most(tmp_path: Path) -> None:
    """The program lives as long as the run."""
    busy = {**WORKER, "pid": 44, "cpu_ns": 5 * S}

    found = processes.of_run(run_of(tmp_path, WORKER, busy, MAIN))

    assert [one.pid for one in found] == [42, 44, 43]
    assert (found[0].lifetime_ns, found[0].name, found[0].role) == (10 * S, "train.py", ProcessRole.MAIN)


def test_one_that_stays_lives_until_the_end_of_the_run(tmp_path: Path) -> None:
    """It has no end."""
    (_, found) = processes.of_run(run_of(tmp_path, MAIN, {**WORKER, "end_ns": None}))

    assert (found.lifetime_ns, found.end_ns) == (9 * S, None)


@pytest.mark.parametrize(
    ("command", "name"),
    [("/usr/bin/python prepare.py --all", "python prepare.py"), ("python entry", "fork of train.py"), (None, None)],
)
def test_one_without_a_name_has_its_commands(tmp_path: Path, command: str | None, name: str | None) -> None:
    """One with the command of the script has forked and goes on as it."""
    (_, found) = processes.of_run(run_of(tmp_path, MAIN, {"pid": 43, "role": "child", "command": command}))

    assert (found.name, found.cpu_ns, found.lifetime_ns) == (name, None, None)


def test_what_an_older_dlprof_called_the_script_is_the_main_process(tmp_path: Path) -> None:
    """Its tables may be there without the raw artifacts."""
    (found,) = processes.of_run(run_of(tmp_path, {"pid": 42, "role": "script", "command": "x", "start_ns": 0}))

    assert (found.role, found.cpu_ns) == (ProcessRole.MAIN, None)


def test_of_many_processes_some_are_told(tmp_path: Path) -> None:
    """Those that used least are counted only."""
    many = [{**WORKER, "pid": 100 + number, "cpu_ns": number} for number in range(300)]
    run = run_of(tmp_path, MAIN, *many)

    found = processes.of_run(run)

    assert (len(found), found[1].pid, processes.count(run)) == (200, 399, 301)


def test_a_kind_is_a_name_without_its_number(tmp_path: Path) -> None:
    """Lines of workers that are alike are added up under it."""
    run = run_of(tmp_path, MAIN, WORKER, {"pid": 44, "role": "child"}, {"pid": 45, "role": "worker", "name": "Pool-3"})

    assert processes.kinds(run, [43, 44, 45, 46]) == {43: "DataLoader worker", 44: "child", 45: "Pool", 46: "child"}


def test_a_role_of_a_strangers_table_is_a_child(tmp_path: Path) -> None:
    """No word is taken as it comes."""
    (_, found) = processes.of_run(run_of(tmp_path, MAIN, {"pid": 43, "role": "<b>boss</b>"}))

    assert found.role is ProcessRole.CHILD


def test_of_several_processes_lines_are_told_together_without_what_is_from_before_a_fork(tmp_path: Path) -> None:
    """What they wait for in a library, below which only their maker's code stands, names no line."""
    maker = {"depth": 0, "function": "<module>", "file": "train.py", "line": 20}
    begins = {
        "depth": 1,
        "function": "BaseProcess._bootstrap",
        "file": "<python>/multiprocessing/process.py",
        "line": 314,
    }
    own = {"depth": 2, "function": "work", "file": "train.py", "line": 7}
    waits = {"depth": 2, "function": "get", "file": "<python>/multiprocessing/queues.py", "line": 9}
    frames = [{"stack_id": n, **frame} for n, last in ((0, own), (1, waits)) for frame in (maker, begins, last)]
    lines = [{"file": "train.py", "function": "f", "line": 7, "time_ns": 1, "how": "sampled", "samples": 1, "pid": 43}]
    stacks = [stack(0, 2), stack(0, 1, pid=44), stack(1, 1, pid=44), stack(0, 5, pid=45)]

    run = run_of(tmp_path, MAIN, WORKER, {**WORKER, "pid": 44}, stacks=stacks, frames=frames, lines=lines)

    assert processes.seen_together(run, {43, 44}) == (TopLine("train.py", 7, 0.75),)
