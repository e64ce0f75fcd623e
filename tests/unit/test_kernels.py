"""Sums of kernels, the split of a step, and step times around a window."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dlprof.ingest.artifact import Who
from dlprof.ingest.kernels.nesting import merge, nest, union_ns
from dlprof.ingest.kernels.trace import Kind
from dlprof.ingest.own.windows import Windows
from dlprof.schema.manifest import Clock


def test_nesting_finds_the_innermost_event_around_each() -> None:
    """In lanes of their own; an event that reaches out of its parent is cut and marked."""
    lane = np.array([0, 0, 0, 0, 1])
    tree = nest(lane, np.array([0, 10, 20, 50_000, 5]), np.array([100_000, 30_000, 5, 90_000, 10]))

    assert tree.parent.tolist() == [-1, 0, 1, 0, -1]
    assert tree.end.tolist() == [100_000, 30_010, 25, 100_000, 15]
    assert tree.overlapping.tolist() == [False, False, False, True, False]
    assert tree.at(np.array([0, 0, 1, 1]), np.array([22, 45_000, 7, 99])).tolist() == [2, 0, 4, -1]


def test_unions_of_intervals() -> None:
    """Overlapping, touching, apart, and none."""
    starts, ends = np.array([0, 5, 20, 30]), np.array([10, 12, 30, 31])

    assert [part.tolist() for part in merge(starts, ends)] == [[0, 20], [12, 31]]
    assert union_ns(starts, ends) == 23
    assert union_ns(np.empty(0, np.int64), np.empty(0, np.int64)) == 0


def test_every_kind_has_a_name_in_the_schema() -> None:
    """The table's comment lists them."""
    assert [kind.name.lower() for kind in Kind][:3] == ["operator", "kernel", "transfer"]


def test_theanos_sums_over_the_whole_run_are_read(tmp_path: Path) -> None:
    """Rows with counts and totals, and no events."""
    path = tmp_path / "theano-profile.json"
    path.write_text('{"functions": [{"name": "train", "operators": {"Dot22": [6, 0.5], "Sum": [2, 0.25]}}]}')
    found = Windows(Who("h", 0, 1, 0), {}, Clock())

    found.add_theano(path)

    tables = found.tables()
    assert tables["kernel_ops"]["op"].to_pylist() == ["Dot22", "Sum"]
    assert tables["kernel_totals"].select(["count", "total_ns"]).to_pylist() == [
        {"count": 6, "total_ns": 500_000_000},
        {"count": 2, "total_ns": 250_000_000},
    ]
    assert tables["kernel_events"].num_rows == 0
