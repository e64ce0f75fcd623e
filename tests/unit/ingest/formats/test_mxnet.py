"""Traces of MXNet."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.ingest.imports import DATA, imported, of_kind, rows


def test_operators_of_mxnet_are_counted_once(tmp_path: Path) -> None:
    """The file tells each twice, as a pair on a thread and as an asynchronous one."""
    run = imported(tmp_path, DATA / "mxnet_gluon.json.gz")

    assert of_kind(run, "operator") == (510, 171050.0)


def test_ranges_of_the_users_own_domains_are_ranges(tmp_path: Path) -> None:
    """`profiler.Task(domain, "train_step")`; the operators are told once, though the file has them in this form, too."""
    names = [{"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "cpu pinned/"}}]
    events = [
        {"ph": ph, "cat": cat, "name": name, "ts": ts, "id": 5, "pid": 77, "tid": 5}
        for cat, name, begin, end in (
            ("mine", "train_step", 0, 40),
            ("operator", "dot", 10, 30),
            ("mine", "train_step", 50, 90),
        )
        for ph, ts in (("b", begin), ("e", end))
    ]
    work = [
        {"ph": ph, "cat": "operator", "name": "dot", "ts": ts, "pid": 1, "tid": 3} for ph, ts in (("B", 10), ("E", 30))
    ]
    path = tmp_path / "mx.json"
    path.write_text(json.dumps({"traceEvents": [*names, *events, *work]}))

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, dur_ns FROM kernels ORDER BY start_ns") == [
        ("annotation", "train_step", 40_000),
        ("operator", "dot", 20_000),
        ("annotation", "train_step", 40_000),
    ]
    assert [step["loop"] for step in run.rows("steps")] == ["train", "train"]
