"""Evidence that users can ask for again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.finding import Query
from dlprof.schema.vocabulary import Phase, SpanKind
from dlprof.store import query as sql
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, KERNELS, sampled
from tests.unit.runs import MS, S


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (queries.spans(SpanKind.SAVE), [("save", "save", "train.py", 7, 2, 3 * S)]),
        (queries.python_stood(Phase.FIT_CALLBACKS), [("<module>", "train.py", 7, "MainThread", S)]),
        (queries.python_stood(Phase.FIT_CALLBACKS, frames="line > 7"), []),
        (queries.python_stood(Phase.FIT_CALLBACKS, where="s.thread = 'other'"), []),
        (queries.training_told("training.floatx", "batch_size"), [('"float32"', "128")]),
        (queries.operators(by="layer, op"), [("dense", "aten::mm", 10, 160 * MS)]),
        (queries.operators("layer = 'none'"), []),
        (queries.scheduled(), [(S, 3, 5, 6, 7)]),
    ],
)
def test_a_query_gives_its_rows(tmp_path: Path, query: Query, expected: list[object]) -> None:
    """As `dlprof sql RUN` does; frames of Keras are left out."""
    sample = {"time_ns": S, "interval_ns": S, "threads": 3, "run_ns": 5, "wait_ns": 6, "switches_involuntary": 7}
    run = runs.trained(
        tmp_path / "r",
        spans=[runs.fit_span(), runs.span("save", 2, 3), runs.span("save", 3, 5), runs.span("evaluate", 5, 6)],
        process_samples=[sample, {**sample, "run_ns": None}],
        **sampled((7, 8, FIT)),
        **runs.window(KERNELS),
    )

    assert sql.ask(run, query.sql).rows == expected


def _stood(path: Path, *stacks: dict[str, Any], frames: list[dict[str, Any]]) -> Sequence[object]:
    """Where Python stood in the steps, from second 2 to 8, of process 42 and its worker 43."""
    run = runs.trained(
        path / "r",
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 8)),
        processes=[
            {"pid": pid, "role": role, "name": name, "start_ns": 0}
            for pid, role, name in ((42, "main", None), (43, "worker", "Worker 0"))
        ],
        stacks=[{"pid": 42, "thread_id": 1, "thread": "MainThread", "start_ns": 3 * S, **one} for one in stacks],
        frames=frames,
    )
    return sql.ask(run, queries.python_stood(Phase.FIT_STEPS).sql).rows


def _frames(*files: str, stack: int = 0) -> list[dict[str, Any]]:
    """A stack, outermost first: functions named by their depth, on line 1."""
    return [
        {"stack_id": stack, "depth": depth, "function": f"f{depth}", "file": file, "line": 1}
        for depth, file in enumerate(files)
    ]


def test_a_stack_stands_once_at_its_innermost_function_outside_of_python(tmp_path: Path) -> None:
    """Not at each of its frames, whose times are all the same one."""
    frames = _frames("train.py", "torch/loader.py", "<python>/selectors.py")

    assert _stood(tmp_path, {"dur_ns": S, "stack_id": 0}, frames=frames) == [
        ("f1", "torch/loader.py", 1, "MainThread", S)
    ]


def test_a_stack_counts_for_the_time_inside_of_the_phase(tmp_path: Path) -> None:
    """One that began before it, or lasts beyond it, does not bring the time outside along."""
    stack = {"start_ns": S, "dur_ns": 3 * S, "stack_id": 0}

    assert _stood(tmp_path, stack, frames=_frames("train.py")) == [("f0", "train.py", 1, "MainThread", 2 * S)]


def test_work_of_worker_processes_has_their_name(tmp_path: Path) -> None:
    """Their main thread is not the one of the training."""
    stack = {"pid": 43, "dur_ns": S, "stack_id": 0}

    assert _stood(tmp_path, stack, frames=_frames("train.py")) == [("f0", "train.py", 1, "Worker 0, MainThread", S)]


@pytest.mark.parametrize(
    "innermost",
    ["<python>/threading.py", "<python>/queue.py", "<python>/socket.py", "<python>/multiprocessing/connection.py"],
)
@pytest.mark.parametrize("stack", [{"thread": "Thread-1 (_serve)"}, {"pid": 43}])
def test_threads_and_workers_that_only_wait_are_left_out(tmp_path: Path, stack: dict[str, Any], innermost: str) -> None:
    """They stand there all the time, and do nothing."""
    assert _stood(tmp_path, {**stack, "dur_ns": S, "stack_id": 0}, frames=_frames("lib/pool.py", innermost)) == []


def test_work_in_python_itself_is_told(tmp_path: Path) -> None:
    """A thread that packs batches calls no library."""
    stack = {"thread": "QueueFeederThread", "dur_ns": S, "stack_id": 0}
    frames = _frames("<python>/threading.py", "<python>/multiprocessing/reduction.py")

    assert _stood(tmp_path, stack, frames=frames) == [
        ("f1", "<python>/multiprocessing/reduction.py", 1, "QueueFeederThread", S)
    ]
