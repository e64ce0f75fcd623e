"""Tracks of a page's timeline."""

from __future__ import annotations

from pathlib import Path

from tests.unit.report.html.pages import page_of, unpacked
from tests.unit.runs import trained, window


def test_gpu_streams_are_tracks_of_their_own(tmp_path: Path) -> None:
    """By device and lane."""
    kernels = window([{"op": "gemm", "category": "matmul", "kind": "kernel", "device": 1, "ms": 5}])
    line = unpacked(page_of(trained(tmp_path / "r", **kernels)))[0]["timelines"][0]
    assert [one["label"] for one in line["tracks"] if one["group"] == "gpu"] == ["GPU 1: t"]


def test_ranks_have_tracks_of_their_own(tmp_path: Path) -> None:
    """Two processes on GPU 0, stream 7."""
    kernels = window([{"op": "gemm", "category": "matmul", "kind": "kernel", "device": 0, "ms": 5}])
    both = [{**row, "rank": rank} for rank in (0, 1) for row in kernels["kernel_events"]]
    line = unpacked(page_of(trained(tmp_path / "r", **{**kernels, "kernel_events": both})))[0]["timelines"][0]
    assert [one["label"] for one in line["tracks"] if one["group"] == "gpu"] == [
        "GPU 0 (rank 0): t",
        "GPU 0 (rank 1): t",
    ]


def test_lanes_have_names_of_their_own_below_their_device(tmp_path: Path) -> None:
    """What differs stands alone: streams of one GPU all begin with its name."""
    kernels = window([{"op": "gemm", "category": "matmul", "kind": "kernel", "device": 1, "ms": 5}])
    line = unpacked(page_of(trained(tmp_path / "r", **kernels)))[0]["timelines"][0]
    assert [(one["place"], one["lane"]) for one in line["tracks"] if one["group"] == "gpu"] == [("GPU 1", "t")]


def test_colours_are_told_what_they_stand_for(tmp_path: Path) -> None:
    """Operators by their category, phases and calls by their names."""
    kernels = window([{"op": "gemm", "category": "matmul", "ms": 5}])
    names = unpacked(page_of(trained(tmp_path / "r", **kernels)))[0]["timelines"][0]["names"]
    told = set(zip(names["text"], names["kind"], strict=True))
    assert told >= {("gemm", "matmul"), ("import", "import"), ("input", "input"), ("train step", "compiled")}
