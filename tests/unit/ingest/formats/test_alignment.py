"""Several traces on one time line."""

from __future__ import annotations

from pathlib import Path

from dlprof.store import query
from tests.unit.ingest.imports import DATA, imported


def test_several_ranks_are_put_on_one_time_line(tmp_path: Path) -> None:
    """By their wall clocks; each row knows its rank."""
    run = imported(tmp_path, DATA / "hta_rank0.json.gz", DATA / "hta_rank1.json.gz")

    rows = query.ask(
        run, "SELECT rank, count(*), min(start_ns) FROM kernels WHERE kind = 'kernel' GROUP BY 1 ORDER BY 1"
    ).rows
    assert [row[:2] for row in rows] == [(0, 1154), (1, 1104)]
    starts = {row["source"]: row["start_ns"] for row in run.rows("kernel_windows")}
    assert starts == {"hta_rank0.json.gz": 0, "hta_rank1.json.gz": 192_000}


def test_a_file_without_absolute_time_is_placed_and_named(tmp_path: Path) -> None:
    """At the beginning, with a warning."""
    run = imported(tmp_path, DATA / "hta_mi250_rocm62.json.gz", DATA / "nvprof_gpu_trace.csv.gz")

    assert "trace-not-aligned" in [row["slug"] for row in run.rows("health")]
    assert "nvprof_gpu_trace.csv.gz" in run.rows("health")[0]["message"]
    assert {row["source"]: row["start_ns"] for row in run.rows("kernel_windows")}["nvprof_gpu_trace.csv.gz"] == 0
