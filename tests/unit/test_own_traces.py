"""What dlprof's own tracers write, and the sampler's sums over a tree of processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import kernels
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import openvino
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.own import cores
from dlprof.pipeline import importing
from dlprof.store import query
from dlprof.store.run import Run


def imported(path: Path) -> Run:
    """A run made of a file."""
    return importing.import_files([path], path.parent / "run", reader=None, report=lambda _line: None)


def rows(run: Run, sql: str) -> list[tuple[Any, ...]]:
    """What SQL gives."""
    return query.ask(run, sql).rows


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


def test_functions_of_chainer_have_link_and_pass(tmp_path: Path) -> None:
    """What the update of a parameter does is the optimiser's."""

    def event(name: str, ts: float, dur: float, link: str, direction: str) -> dict[str, Any]:
        told = {"name": link, "op": direction}
        return {"name": name, "cat": "chainer", "ph": "X", "ts": ts, "dur": dur, "pid": 1, "tid": 7, "args": told}

    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [
        event("LinearFunction", 10, 5, "dense_1", "forward"),
        event("LinearGradWeight", 22, 3, "dense_1", "backward"),
        event("LinearFunction", 20, 7, "dense_1", "backward"),
        event("RMSpropRule", 30, 2, "", "update"),
    ]}))  # fmt: skip

    assert formats.find(path).name == "chainer"
    run = imported(path)

    found = [(r.keys["layer"], r.keys["direction"], r.keys["op"], r.total_ns)
             for r in kernels.summarise(run, "layer").rows]  # fmt: skip
    assert sorted(found) == [
        ("dense_1", "backward", "LinearFunction", 4000),
        ("dense_1", "backward", "LinearGradWeight", 3000),
        ("dense_1", "forward", "LinearFunction", 5000),
        ("optimizer", "update", "RMSpropRule", 2000),
    ]


def test_children_that_come_and_go_between_two_samples_are_not_lost() -> None:
    """The kernel adds their ticks to their parent's when they are over."""
    shell_before, shell_after = [1, 5, 0, 1, 0, 0, 100], [1, 6, 0, 1, 0, 0, 190]

    assert cores._tree_ticks([shell_before], [shell_after]) == 91
    child_before = [2, 40, 0, 1, 0, 0, 0]  # 40 of its ticks were seen; at its end it had 60, which the shell has now
    assert cores._tree_ticks([shell_before, child_before], [[1, 6, 0, 1, 0, 0, 160]]) == 21
    assert cores._tree_ticks([[1, 5, 0, 1, 0, 0]], [[1, 9, 0, 1, 0, 0]]) == 4  # of an older dlprof
