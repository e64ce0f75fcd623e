"""RunMetadata of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import kernels
from tests.unit.ingest.imports import DATA, imported, of_kind


def test_run_metadata_of_tensorflow_1_is_read_exactly(tmp_path: Path) -> None:
    """259 operators of the device, not those that `/host:CPU` repeats; times as TensorFlow's own timeline has them."""
    run = imported(tmp_path, DATA / "tf1_mlp_step.runmeta.pb.gz")

    assert of_kind(run, "operator")[0] == 259
    assert of_kind(run, "operator")[1] == pytest.approx(26699, rel=0.01)  # the timeline cuts each off to microseconds
    counts = {row.keys["op"]: row.count for row in kernels.summarise(run, "op").rows}
    assert (counts["MatMul"], counts["_FusedMatMul"], counts["ReadVariableOp"]) == (5, 3, 38)
    layers = {(row.keys["layer"], row.keys["direction"]) for row in kernels.summarise(run, "layer").rows}
    assert {("dense_1", "forward"), ("dense_1", "backward"), ("RMSprop", "update")} <= layers
