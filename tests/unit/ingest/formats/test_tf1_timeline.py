"""Timelines of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import kernels
from tests.unit.ingest.imports import DATA, imported, of_kind


def test_a_timeline_of_tensorflow_1_counts_each_execution_once(tmp_path: Path) -> None:
    """4,789 kernels, though the file tells most of them twice, and 21 copies."""
    run = imported(tmp_path, DATA / "tf1_kittibox.json.gz")
    by_op = {row.keys["op"]: row for row in kernels.summarise(run, "op", kinds=("kernel",)).rows}

    assert of_kind(run, "kernel") == (4789, 1848902.0)
    assert of_kind(run, "transfer")[0] == 21
    assert (by_op["Conv2D"].count, by_op["Conv2D"].total_ns) == (4626, 1_817_397_000)
