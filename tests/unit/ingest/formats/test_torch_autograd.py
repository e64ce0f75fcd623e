"""Traces of torch.autograd.profiler from before Kineto."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.ingest.formats import registry, torch_autograd
from tests.unit.ingest.imports import imported, rows

EVENTS = [
    {"name": "aten::mm", "ph": "X", "ts": 100.0, "dur": 30.0, "tid": 1, "pid": "CPU functions", "args": {}},
    {"name": "aten::mm", "ph": "s", "ts": 100.0, "tid": 1, "pid": "CPU functions", "id": 7, "cat": "cpu_to_cuda"},
    {"name": "aten::mm", "ph": "f", "ts": 120.0, "tid": 1, "pid": "CUDA functions", "id": 7, "cat": "cpu_to_cuda"},
    {"name": "sgemm", "ph": "X", "ts": 120.0, "dur": 50.0, "tid": 1, "pid": "CUDA functions", "args": {}},
]
"""As `torch/autograd/profiler.py` of PyTorch 1.6 writes them."""


def test_operators_and_kernels_are_told_by_their_process(tmp_path: Path) -> None:
    """The thread of a kernel is its device; arrows between them are counted."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(EVENTS))
    assert registry.find(path) is torch_autograd.READER

    run = imported(tmp_path, path)

    assert rows(run, "SELECT kind, name, device, dur_ns FROM kernels ORDER BY kind") == [
        ("kernel", "sgemm", "gpu:1", 50_000),
        ("operator", "aten::mm", "cpu", 30_000),
    ]
    assert [(row["what"], row["events"]) for row in run.rows("skipped")] == [("arrows of category cpu_to_cuda", 2)]
