"""Horovod's timeline."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.formats import horovod, registry
from tests.unit.ingest.formats.samples import put
from tests.unit.ingest.imports import imported, rows

TIMELINE = """\
[
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "grads/dense/kernel"}},
{"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}},
{"ph": "i", "name": "CYCLE_START", "ts": 90, "s": "g"},
{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 100, "pid": 1},
{"ph": "X", "name": "0", "ts": 101, "pid": 1, "dur": 0},
{"ph": "X", "name": "1", "ts": 129, "pid": 1, "dur": 0},
{"ph": "E", "ts": 130, "pid": 1},
{"ph": "B", "name": "ALLREDUCE", "ts": 140, "pid": 1},
{"ph": "B", "name": "WAIT_FOR_DATA", "ts": 140, "pid": 1},
{"ph": "E", "ts": 150, "pid": 1},
{"ph": "B", "name": "MEMCPY_IN_FUSION_BUFFER", "ts": 150, "pid": 1},
{"ph": "E", "ts": 155, "pid": 1},
{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": 155, "pid": 1},
{"ph": "E", "ts": 195, "pid": 1},
{"ph": "E", "ts": 200, "pid": 1, "args": {"dtype": "float32", "shape": "[10, 10]"}},
"""
"""As `horovod/common/timeline.cc` writes it; the list is not closed while the program runs."""


def test_collectives_are_told_from_waiting_for_other_ranks(tmp_path: Path) -> None:
    """Own time of a collective is without what ran inside it; each tensor has a lane."""
    path = put(tmp_path, TIMELINE, "timeline.json")
    assert registry.find(path) is horovod.READER

    run = imported(tmp_path, path)

    query = "SELECT kind, name, category, lane, start_ns, dur_ns, self_ns FROM kernels ORDER BY start_ns, dur_ns DESC"
    lane = "grads/dense/kernel"
    assert rows(run, query) == [
        ("wait", "NEGOTIATE_ALLREDUCE", "other", lane, 0, 30_000, 30_000),
        ("operator", "ALLREDUCE", "collective", lane, 40_000, 60_000, 5_000),
        ("wait", "WAIT_FOR_DATA", "other", lane, 40_000, 10_000, 10_000),
        ("operator", "MEMCPY_IN_FUSION_BUFFER", "transfer", lane, 50_000, 5_000, 5_000),
        ("operator", "NCCL_ALLREDUCE", "collective", lane, 55_000, 40_000, 40_000),
    ]


def test_ticks_and_cycles_are_counted(tmp_path: Path) -> None:
    """They have no duration."""
    run = imported(tmp_path, put(tmp_path, TIMELINE, "timeline.json"))

    assert {row["what"]: row["events"] for row in run.rows("skipped")} == {
        "ticks of ranks that were ready": 2,
        "instants": 1,
    }
