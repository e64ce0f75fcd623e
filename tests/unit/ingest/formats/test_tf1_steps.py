"""RunMetadata of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import kernels
from dlprof.ingest.formats import tf1_steps
from tests.unit.ingest.imports import DATA, imported, of_kind
from tests.unit.ingest.protobuf import field, number


def test_run_metadata_of_tensorflow_1_is_read_exactly(tmp_path: Path) -> None:
    """259 operators of the device, not those that `/host:CPU` repeats; times as TensorFlow's own timeline has them."""
    run = imported(tmp_path, DATA / "tf1_mlp_step.runmeta.pb.gz")

    assert of_kind(run, "operator")[0] == 259
    assert of_kind(run, "operator")[1] == pytest.approx(26699, rel=0.01)  # the timeline cuts each off to microseconds
    counts = {row.keys["op"]: row.count for row in kernels.summarise(run, "op").rows}
    assert (counts["MatMul"], counts["_FusedMatMul"], counts["ReadVariableOp"]) == (5, 3, 38)
    layers = {(row.keys["layer"], row.keys["direction"]) for row in kernels.summarise(run, "layer").rows}
    assert {("dense_1", "forward"), ("dense_1", "backward"), ("RMSprop", "update")} <= layers


def test_nodes_at_impossible_times_are_passed_over_and_counted(tmp_path: Path) -> None:
    """Of two nodes of a device one is said to have begun before 1970."""
    good = field(1, b"a/b") + number(2, 1000) + number(5, 7)
    bad = field(1, b"a/c") + number(2, -5) + number(5, 7)
    device = field(1, b"/job:x/device:CPU:0") + field(2, good) + field(2, bad)
    path = tmp_path / "step.pb"
    path.write_bytes(field(1, field(1, device)))

    trace = tf1_steps.read(path).trace

    assert trace is not None
    assert (trace.size, trace.dropped, trace.zero_ns) == (1, 1, 1_000_000)
    assert [known.slug for known in trace.health] == ["trace-malformed"]
