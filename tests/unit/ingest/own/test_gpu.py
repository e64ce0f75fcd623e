"""The sampler's rows of GPUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.own import gpu

PROCESS = ProcessId("host", 0, 42, 1_000)


def write(path: Path, *rows: Any) -> Path:
    """A JSON-lines file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_gpu_rows_become_columns(tmp_path: Path) -> None:
    """Missing values stay null."""
    path = write(
        tmp_path / "gpu.jsonl",
        {"format": "dlprof.gpu/1", "columns": ["utilisation_pct", "power_w"], "gpus": [{"name": "A"}]},
        [2_000, 0, 50, None],
        {"end": True, "missing": [{"gpu": 0, "metric": "power_w", "reason": "Not Supported"}]},
    )

    series = gpu.read(path, PROCESS)
    table, health = series.table, series.health

    row = table.to_pylist()[0]
    assert (row["time_ns"], row["utilisation_pct"], row["power_w"]) == (1_000, 50.0, None)
    assert [entry.slug for entry in health] == ["gpu-metric-unsupported"]
