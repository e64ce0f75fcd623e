"""Traces in Chrome's format of no maker that dlprof knows."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.ingest.formats import chrome, registry
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
