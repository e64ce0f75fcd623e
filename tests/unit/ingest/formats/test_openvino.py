"""What dlprof collects of OpenVINO."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import openvino
from dlprof.ingest.kernels.scopes import LayerPass
from dlprof.pipeline import importing
from dlprof.schema.vocabulary import Direction
from dlprof.store.run import Run
from tests.unit.ingest.imports import rows


def imported(path: Path) -> Run:
    """A run made of a file."""
    return importing.import_files([path], path.parent / "run", reader=None, report=lambda _line: None)


def test_nodes_of_openvino_lie_one_behind_the_other(tmp_path: Path) -> None:
    """From the begin of their call; a conversion that OpenVINO put in belongs to the layer of the node it is called after."""
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({
        "format": "dlprof.openvino/1",
        "owner": {"MatMul_24": "dense_1", "Softmax_35": "dense_2"},
        "calls": [[1000, 2000, [["f32_bf16_MatMul_24", "Reorder", "jit", 100],
                                ["MatMul_24", "FullyConnected", "brgemm_bf16", 400],
                                ["Softmax_35", "Softmax", "jit_f32", 50]]],
                  [5000, 5100, [["MatMul_24", "FullyConnected", "brgemm_bf16", 400]]]],
    }))  # fmt: skip

    run = imported(path)

    found = rows(run, "SELECT op, layer, direction, start_ns, dur_ns FROM kernels ORDER BY start_ns")
    assert found == [
        ("Reorder", "dense_1", "forward", 0, 100),
        ("FullyConnected", "dense_1", "forward", 100, 400),
        ("Softmax", "dense_2", "forward", 500, 50),
        ("FullyConnected", "dense_1", "forward", 4000, 100),  # no longer than its call
    ]


@pytest.mark.parametrize(
    "text", ['{"format": "dlprof.openvino/1"}', '{"format": "dlprof.openvino/1", "owner": 3}', "{"]
)
def test_a_damaged_file_of_openvino_is_one_error(tmp_path: Path, text: str) -> None:
    """With its place in the text."""
    path = tmp_path / "nodes.json"
    path.write_text(text)

    with pytest.raises(ArtifactError, match="damaged"):
        openvino.read(path)


def test_of_several_nodes_that_a_conversion_could_be_called_after_the_first_owns_it(tmp_path: Path) -> None:
    """And looking for it does not take as long as nodes times layers."""
    owner = {"MatMul_1": "a", "b_MatMul_1": "b", **{f"Other_{n}": "o" for n in range(20_000)}}
    nodes = [["x_b_MatMul_1", "Reorder", "jit", 1], *([f"n_{n}", "Relu", "jit", 1] for n in range(20_000))]
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({"format": "dlprof.openvino/1", "owner": owner, "calls": [[0, 10**6, nodes]]}))

    trace = openvino.read(path).trace

    assert trace is not None
    assert trace.scopes[0] == LayerPass("a", Direction.FORWARD)
    assert trace.scopes[1] == LayerPass(None, Direction.FORWARD)
