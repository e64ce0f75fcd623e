"""Horovod's timeline."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.formats import horovod, registry
from tests.unit.ingest.formats.samples import HOROVOD, put
from tests.unit.ingest.imports import imported, rows


def test_collectives_are_told_from_waiting_for_other_ranks(tmp_path: Path) -> None:
    """Own time of a collective is without what ran inside it; each tensor has a lane."""
    path = put(tmp_path, HOROVOD, "timeline.json")
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
    run = imported(tmp_path, put(tmp_path, HOROVOD, "timeline.json"))

    assert {row["what"]: row["events"] for row in run.rows("skipped")} == {
        "ticks of ranks that were ready": 2,
        "instants": 1,
    }
