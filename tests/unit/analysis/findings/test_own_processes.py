"""Processes that a script started and waits for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import own_processes
from dlprof.analysis.findings.case import Case
from dlprof.schema.tree_paths import Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, keep_source, parts, sampled
from tests.unit.runs import S

_CHILD = {"pid": 43, "role": "child", "parent_pid": 42, "start_ns": S, "end_ns": 4 * S, "cpu_ns": S}


def case_of(folder: Path, *calls: Call, source: str = "", beside: list[Call] | None = None, **changes: Any) -> Case:
    """3 s of a script's own code in which these frames stand, while a process runs."""
    tables = {
        "phases": parts(import_=1, script=3, fit_steps=4, teardown=2),
        "phase_intervals": runs.intervals(("import", 0, 1), ("script", 1, 4), ("fit.steps", 4, 8), ("teardown", 8, 10)),
        "processes": [{**_CHILD, **changes}],
    }
    stacks = sampled((1, 4, list(calls)), *([(1, 4, beside)] if beside else []))
    for row in stacks["stacks"][1:]:
        row.update(thread="Thread-1", thread_id=2)
    run = runs.held(folder, **{**runs.training(), **tables, **stacks})
    keep_source(run, source)
    return Case(run)


def share(case: Case) -> float:
    """Of the script's own code, in which it waits for processes; 0: none is waited for."""
    waited = own_processes.waited_for(case, (Tree.SCRIPT,))
    return waited.share if waited is not None else 0.0


@pytest.mark.parametrize(
    "library",
    [
        [("Popen.poll", "<python>/multiprocessing/popen_fork.py", 27)],
        [("Popen.wait", "<python>/subprocess.py", 1264), ("Popen._try_wait", "<python>/subprocess.py", 1995)],
        [("Pool.map", "<python>/multiprocessing/pool.py", 367), ("Condition.wait", "<python>/threading.py", 327)],
        [("Future.result", "<python>/concurrent/futures/_base.py", 451), ("Condition.wait", "<python>/threading.py", 327)],
    ],
)  # fmt: skip
def test_libraries_that_make_processes_wait_for_them(tmp_path: Path, library: list[Call]) -> None:
    """With what they call themselves to wait."""
    assert share(case_of(tmp_path / "r", ("<module>", "train.py", 3), *library)) == 1.0


def test_a_call_of_the_system_is_known_by_its_line(tmp_path: Path) -> None:
    """It leaves no frame."""
    waiting = case_of(tmp_path / "a", ("<module>", "train.py", 2), source="import os\nos.waitpid(pid, 0)\n")
    sleeping = case_of(tmp_path / "b", ("<module>", "train.py", 2), source="import os\ntime.sleep(3)\n")

    assert (share(waiting), share(sleeping)) == (1.0, 0.0)


def test_a_wait_for_a_thread_is_not_for_a_process(tmp_path: Path) -> None:
    """Though one runs."""
    assert share(case_of(tmp_path / "r", ("<module>", "train.py", 3), ("join", "<python>/threading.py", 1119))) == 0.0


def test_who_waits_for_a_pool_of_threads_waits_for_no_process(tmp_path: Path) -> None:
    """It waits in the same files."""
    main = [
        ("<module>", "train.py", 3),
        ("Pool.map", "<python>/multiprocessing/pool.py", 367),
        ("wait", "<python>/threading.py", 9),
    ]
    thread = [("worker", "<python>/multiprocessing/pool.py", 125), ("work", "train.py", 9)]

    assert share(case_of(tmp_path / "r", *main, beside=thread)) == 0.0


def test_batches_of_an_engine_s_loader_are_the_engine_s(tmp_path: Path) -> None:
    """Its workers are processes, too."""
    loader = [
        ("_try_get_data", "torch/utils/data/dataloader.py", 1251),
        ("get", "<python>/multiprocessing/queues.py", 113),
    ]

    assert share(case_of(tmp_path / "r", ("<module>", "train.py", 3), *loader)) == 0.0


def test_what_python_starts_for_itself_is_not_waited_for(tmp_path: Path) -> None:
    """The tracker of shared resources runs until the end."""
    calls = ("<module>", "train.py", 3), ("Popen.poll", "<python>/multiprocessing/popen_fork.py", 27)

    assert share(case_of(tmp_path / "r", *calls, name="multiprocessing resource tracker")) == 0.0
