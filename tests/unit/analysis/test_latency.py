"""Latencies of predictions, by place and over all threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.analysis import latency
from dlprof.analysis.latency import CallLatency
from tests.unit import runs
from tests.unit.runs import MS, S


def call(number: int, ms: float, thread: int = 1, **changes: Any) -> dict[str, Any]:
    """A call of predict in a handler of requests."""
    row = runs.span("predict", number, number, name="predict", span_id=number, file="serve.py", line=7)
    return {**row, "thread_id": thread, "start_ns": number * S, "dur_ns": round(ms * MS), **changes}


def found(folder: Path, spans: list[dict[str, Any]], **tables: Any) -> tuple[CallLatency, ...]:
    """What is found in a run with these."""
    return latency.of_run(runs.make(folder / "r", spans=spans, **tables))


def test_percentiles_are_those_of_all_threads_without_the_first_call(tmp_path: Path) -> None:
    """By nearest rank: 100 calls of 1 to 100 ms after one of 5 s."""
    spans = [call(1, 5000), *(call(number + 1, number, number % 4) for number in range(100, 0, -1))]

    (told,) = found(tmp_path, spans)

    assert (told.name, told.file, told.line, told.count, told.threads) == ("predict", "serve.py", 7, 101, 4)
    assert (told.first_ns, told.max_ns) == (5000 * MS, 100 * MS)
    assert (told.p50_ns, told.p95_ns, told.p99_ns) == (50 * MS, 95 * MS, 99 * MS)
    assert told.total_ns == 10_050 * MS


def test_few_calls_have_no_high_percentiles(tmp_path: Path) -> None:
    """They would be the slowest call alone."""
    (told,) = found(tmp_path, [call(number, 1) for number in range(1, 20)])
    assert (told.p50_ns, told.p95_ns, told.p99_ns) == (MS, None, None)
    (one,) = found(tmp_path / "one", [call(1, 3)])
    assert (one.count, one.first_ns, one.p50_ns, one.max_ns) == (1, 3 * MS, None, None)


def test_a_call_that_did_not_return_and_a_loop_of_the_scripts_own_are_none(tmp_path: Path) -> None:
    """The first has no latency, the second is many calls."""
    spans = [
        call(1, 3),
        call(2, 9, ended=False),
        call(3, 9, detail=json.dumps({"how": "inferred"})),
    ]
    (told,) = found(tmp_path, spans)
    assert (told.count, told.total_ns) == (1, 3 * MS)


def test_each_batch_of_a_loop_of_calls_is_one(tmp_path: Path) -> None:
    """Where only sums of them were kept, there are no percentiles."""
    spans = [runs.span("on_batch", 1, 2, name="predict_on_batch", span_id=9, file="serve.py", line=3)]

    def step(number: int, count: int = 1) -> dict[str, Any]:
        begin = {"thread_id": 1, "loop": "predict", "loop_id": 9, "step": number, "count": count}
        return {**begin, "start_ns": S + number, "dur_ns": count * MS}

    (told,) = found(tmp_path, spans, steps=[step(0), step(1), step(2)])
    assert (told.name, told.count, told.p50_ns, told.max_ns) == ("predict_on_batch", 3, MS, MS)
    (sums,) = found(tmp_path / "sums", spans, steps=[step(0), step(1), step(2, 10)])
    assert (sums.count, sums.p50_ns, sums.max_ns, sums.total_ns) == (12, None, None, 12 * MS)


def test_threads_that_had_one_number_in_turn_are_as_many(tmp_path: Path) -> None:
    """A server has one for each request, and Python gives the number of one that has ended again."""
    spans = [{**call(number, 3, thread=5), "thread": f"request {number // 2}"} for number in range(8)]

    assert found(tmp_path, spans)[0].threads == 4


def test_loops_of_batches_on_threads_that_had_one_number_are_of_as_many(tmp_path: Path) -> None:
    """Steps have no name of their thread; the call that they are of has."""
    rows = [runs.span("on_batch", n, n + 1, name="predict_on_batch", span_id=n, thread=f"t {n}") for n in (1, 2)]
    steps = [
        {"thread_id": 1, "loop": "predict", "loop_id": n, "step": 0, "count": 1, "start_ns": n * S, "dur_ns": MS}
        for n in (1, 1, 2)
    ]

    assert [(one.count, one.threads) for one in found(tmp_path, rows, steps=steps)] == [(3, 2)]
