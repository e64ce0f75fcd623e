"""Traces in Chrome's format of no maker that dlprof knows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from dlprof.ingest.formats import chrome, registry
from dlprof.report import summary
from tests.unit.ingest.imports import imported, rows

EVENTS = [
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "worker"}},
    {"ph": "X", "name": "whole", "pid": 1, "tid": 2, "ts": 10, "dur": 5},
    {"ph": "B", "name": "outer", "pid": 1, "tid": 2, "ts": 20},
    {"ph": "B", "name": "inner", "pid": 1, "tid": 2, "ts": 21},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 23},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 30},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 31},
]


def test_complete_events_and_pairs_are_operators_of_the_host(tmp_path: Path) -> None:
    """An end closes what began last on its thread; one too many closes nothing."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(EVENTS))
    assert registry.find(path) is chrome.READER

    run = imported(tmp_path, path)

    assert rows(run, "SELECT name, kind, start_ns, dur_ns, nested_ns FROM kernels ORDER BY start_ns") == [
        ("whole", "operator", 0, 5_000, 0),
        ("outer", "operator", 10_000, 10_000, 2_000),
        ("inner", "operator", 11_000, 2_000, 0),
    ]


def test_ranges_named_after_steps_are_steps_and_no_work(tmp_path: Path) -> None:
    """Their own time would be that of the busiest operator else."""
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps(
            [
                {"ph": "X", "name": "train_step", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
                {"ph": "X", "name": "forward", "pid": 1, "tid": 1, "ts": 2, "dur": 6},
                {"ph": "X", "name": "train_step", "pid": 1, "tid": 1, "ts": 10, "dur": 10},
                {"ph": "X", "name": "load_batch", "pid": 1, "tid": 1, "ts": 10, "dur": 4},
            ]
        )
    )

    run = imported(tmp_path, path)

    assert rows(run, "SELECT name, kind FROM kernels ORDER BY start_ns, dur_ns DESC") == [
        ("train_step", "annotation"),
        ("forward", "operator"),
        ("train_step", "annotation"),
        ("load_batch", "input"),
    ]
    assert rows(run, "SELECT loop, dur_ns, input_ns FROM steps") == [("train", 10_000, 0), ("train", 6_000, 4_000)]


def _processes(path: Path) -> Path:
    names = {11: "trainer", 12: "loader"}
    told = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}} for pid, name in names.items()]
    spans = [
        {"ph": "X", "name": "main", "pid": 11, "tid": 1, "ts": 0, "dur": 100},
        {"ph": "X", "name": "Process.join", "pid": 11, "tid": 1, "ts": 10, "dur": 80},
        {"ph": "X", "name": "decode", "pid": 12, "tid": 1, "ts": 10, "dur": 70},
    ]
    path.write_text(json.dumps([*told, *spans]))
    return path


def test_processes_of_one_file_are_told_apart(tmp_path: Path) -> None:
    """Each has its number, and they keep their places on the clock of the file."""
    run = imported(tmp_path, _processes(tmp_path / "t.json"))

    assert rows(run, "SELECT pid, name, kind, start_ns, dur_ns FROM kernels ORDER BY start_ns, pid, dur_ns DESC") == [
        (11, "main", "operator", 0, 100_000),
        (11, "Process.join", "wait", 10_000, 80_000),
        (12, "decode", "operator", 10_000, 70_000),
    ]
    assert [row["file"] for row in run.rows("sources")] == [
        "t.json (trainer, process 11)",
        "t.json (loader, process 12)",
    ]
    assert "trace-not-aligned" not in [row["slug"] for row in run.rows("health")]


def test_the_report_is_of_the_process_whose_operators_took_longest(tmp_path: Path) -> None:
    """And says what the others did; no time is counted twice."""
    report = summary.summarise(imported(tmp_path, _processes(tmp_path / "t.json")))

    assert report.verdict == (
        "No GPU is in the trace: operators of one process (loader, process 12) ran in 100 % of its 70.0 µs; the "
        "operator with most time of its own in all processes is decode. Operators of the other process took 20.0 µs "
        "(trainer, process 11)."
    )
    assert sum(leaf.ns for leaf in report.tree or ()) == 70_000


def test_very_many_processes_share_one_trace_in_the_end(tmp_path: Path) -> None:
    """Some makers number with them what are no processes."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"ph": "X", "name": "f", "pid": n, "tid": 0, "ts": n, "dur": 1} for n in range(100)]))

    run = imported(tmp_path, path)

    assert len(run.rows("sources")) == 65
    assert run.rows("sources")[-1]["events"] == 36


def test_what_only_waits_is_no_operator(tmp_path: Path) -> None:
    """Names of Python's own functions that wait, and of runtimes; a path or a text is joined, not waited for."""
    names = ["time.sleep", "Lock.acquire", "BaseProcess.join (a/process.py:3)", "wait for batch", "str.join", "awaited"]
    path = tmp_path / "t.json"
    events = [{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 1} for at, name in enumerate(names)]
    path.write_text(json.dumps(events))

    run = imported(tmp_path, path)

    assert rows(run, "SELECT name FROM kernels WHERE kind = 'wait' ORDER BY start_ns") == [(n,) for n in names[:4]]


def test_processes_that_a_file_numbers_with_texts_are_called_by_these(tmp_path: Path) -> None:
    """As timelines of Ray do: the number that the tables need is not theirs."""
    path = tmp_path / "t.json"
    spans = [{"ph": "X", "name": "f", "pid": f"10.0.0.{n}", "tid": "w", "ts": 0, "dur": n} for n in (1, 2)]
    path.write_text(json.dumps(spans))

    run = imported(tmp_path, path)

    assert [row["file"] for row in run.rows("sources")] == ["t.json (10.0.0.1)", "t.json (10.0.0.2)"]
    assert [row["message"] for row in run.rows("health")] == [
        "Phases, steps and the split of the time are those of 10.0.0.2, one of 2 processes."
    ]


def test_categories_that_say_what_an_event_is_count_before_its_name(tmp_path: Path) -> None:
    """Phases and waits that dlprof itself wrote are no operators when they come back."""
    path = tmp_path / "t.json"
    told = {"phase": "fit", "wait": "cudaFree", "operator": "add", "input": "next"}
    spans = [
        {"ph": "X", "cat": sort, "name": name, "pid": 1, "tid": at, "ts": 0, "dur": 1}
        for at, (sort, name) in enumerate(told.items())
    ]
    path.write_text(json.dumps(spans))

    run = imported(tmp_path, path)

    assert sorted(rows(run, "SELECT name, kind FROM kernels")) == [
        ("add", "operator"),
        ("cudaFree", "wait"),
        ("fit", "annotation"),
        ("next", "input"),
    ]


def test_a_file_that_is_given_twice_is_named(tmp_path: Path) -> None:
    """As it is and packed, its work would seem to be twice as much."""
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    plain.write_text(json.dumps(EVENTS))
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    run = imported(tmp_path, plain, packed)

    said = {row["slug"]: row["message"] for row in run.rows("health")}
    assert said["trace-alike"] == (
        "t.json.gz seems to hold the same events as t.json: if so, their work is counted twice."
    )


def test_a_file_that_dlprof_exported_is_told_as_such(tmp_path: Path) -> None:
    """Its run holds more; read again, its steps and its operators are two processes."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"traceEvents": EVENTS, "otherData": {"run": "mlp", "zero_shifted_by_ns": 0}}))

    run = imported(tmp_path, path)

    said = {row["slug"]: row["message"] for row in run.rows("health")}
    assert said["trace-own-export"].startswith("t.json was exported by dlprof from the run mlp, which holds more")
