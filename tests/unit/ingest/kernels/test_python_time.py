"""Functions of the user's in traces with functions of Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.ingest.formats import kineto
from dlprof.ingest.kernels import python_time
from tests.unit.ingest.formats.samples import trace_of


def event(cat: str, name: str, ts: float, dur: float, tid: int = 1) -> dict[str, Any]:
    """An event of torch.profiler; times in us."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur}


def told(folder: Path, *events: dict[str, Any]) -> list[dict[str, Any]]:
    """What is told of them."""
    path = folder / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return python_time.longest(trace_of(kineto.read(path)))


MODULE = event("python_function", "train.py(1): <module>", 0, 1000)
OPERATOR = event("cpu_op", "aten::mm", 0, 100)


def test_the_innermost_function_of_the_users_has_the_time_of_what_it_calls(tmp_path: Path) -> None:
    """Not that of operators, and with the call that takes most of it."""
    log = event("python_function", "train.py(9): log", 200, 500)
    json_ = event("python_function", "json/encoder.py(5): encode", 210, 50)
    sleep = event("python_function", "<built-in function sleep>", 300, 400)

    found = told(tmp_path, MODULE, OPERATOR, log, json_, sleep, event("cpu_op", "aten::item", 250, 40))

    assert found[0] == {
        "file": "train.py", "line": 9, "function": "log", "ns": 460_000,
        "inner": "<built-in function sleep>", "inner_ns": 400_000,
    }  # fmt: skip
    assert [(one["function"], one["ns"]) for one in found] == [("log", 460_000), ("<module>", 400_000)]


def test_a_wait_for_data_is_no_time_of_the_function_that_waits(tmp_path: Path) -> None:
    """Though its range begins in the function that opens it."""
    enter = event("python_function", "torch/autograd/profiler.py(9): __enter__", 100, 30)
    waiting = event("user_annotation", "enumerate(DataLoader)#X.__next__", 110, 590)
    poll = event("python_function", "<built-in method poll>", 150, 500)

    found = told(tmp_path, MODULE, OPERATOR, enter, waiting, poll)

    assert [(one["function"], one["ns"], one["inner"]) for one in found] == [("<module>", 310_000, "<module>")]


def test_functions_of_other_threads_are_not_told(tmp_path: Path) -> None:
    """The thread that runs the operators is the one that matters."""
    other = event("python_function", "worker.py(3): loop", 0, 5000, tid=2)

    assert [one["function"] for one in told(tmp_path, MODULE, OPERATOR, other)] == ["<module>"]


def test_a_trace_without_functions_tells_none(tmp_path: Path) -> None:
    """Nothing is made up."""
    assert told(tmp_path, OPERATOR) == []
