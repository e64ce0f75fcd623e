"""Attribution of MXNet: the order of execution."""

from __future__ import annotations

from typing import Any

from dlprof.ingest.attribution.labels import Label, Model
from dlprof.ingest.kernels.events import CPU
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled, make_trace

GRAPH = {
    "nodes": [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "null", "name": "dense_1/kernel1", "inputs": []},
        {"op": "dot", "name": "dot0", "inputs": [0, 1]},
        {"op": "LeakyReLU", "name": "leakyrelu0", "inputs": [2]},
        {"op": "null", "name": "dense_2/kernel1", "inputs": []},
        {"op": "dot", "name": "dot1", "inputs": [3, 4]},
        {"op": "log", "name": "log0", "inputs": [5]},
        {"op": "MakeLoss", "name": "makeloss0", "inputs": [6]},
        {"op": "argmax", "name": "argmax0", "inputs": [5]},
    ],
    "outputs": {"dense_1": ["leakyrelu0"], "dense_2": ["dot1"], "sequential": ["dot1"]},
    "layer_names": ["dense_1", "dense_2"],
    "training": True,
}


def mxnet_labels(executed: list[str], graph: dict[str, Any]) -> list[Label | None]:
    """Labels of operators executed one after the other."""
    rows = [(EventKind.OPERATOR, name, at, 1, CPU, 0, -1) for at, name in enumerate(executed)]
    model = Model(("dense_1", "dense_2"), (), ("rm_sprop",), (graph,))
    return [label for _, label, _ in labelled(make_trace(rows, "order"), model)]


def test_operators_of_mxnet_find_their_layer_by_their_place_in_the_graph() -> None:
    """Forward in order, backward the other way round; two steps."""
    step = ["dot", "LeakyReLU", "dot", "log", "argmax", "_backward_log", "_backward_dot", "add_n",
            "_backward_LeakyReLU", "_backward_dot", "rmsprop_update", "CopyCPU2CPU"]  # fmt: skip

    assert mxnet_labels(step * 2, GRAPH) == [
        ("dense_1", "forward"), ("dense_1", "forward"), ("dense_2", "forward"), ("loss", "forward"),
        ("metrics", "forward"), ("loss", "backward"), ("dense_2", "backward"), ("dense_2", "backward"),
        ("dense_1", "backward"), ("dense_1", "backward"), ("rm_sprop", "update"), ("input", None),
    ] * 2  # fmt: skip


def test_what_does_not_fit_the_graph_of_mxnet_is_not_guessed() -> None:
    """Three executions of two nodes of different layers tell their direction only."""
    assert mxnet_labels(["dot", "dot", "dot"], GRAPH) == [(None, "forward")] * 3


def test_arithmetic_behind_the_way_back_is_the_update_of_an_optimiser_written_in_python() -> None:
    """AdaGrad: MXNet has no operator for it. A scalar in the loss comes before the way back, a mean of it is none."""
    step = ["dot", "LeakyReLU", "dot", "log", "_mul_scalar", "_backward_log", "_backward_dot", "_backward_LeakyReLU",
            "_backward_dot", "_mul_scalar", "square", "broadcast_add", "mean", "sqrt", "broadcast_div"]  # fmt: skip
    update = ("rm_sprop", "update")

    assert mxnet_labels(step * 2, GRAPH)[9:15] == [update, update, update, None, update, update]
    assert mxnet_labels(step * 2, GRAPH)[4] is None
    assert mxnet_labels(step * 2, GRAPH)[19] is None


def test_arithmetic_behind_the_way_back_is_no_update_where_the_optimiser_has_an_operator() -> None:
    """What a script computes there of its own is not the optimiser's."""
    step = ["dot", "LeakyReLU", "dot", "log", "_backward_log", "_backward_dot", "_backward_LeakyReLU", "_backward_dot",
            "sgd_mom_update", "square"]  # fmt: skip

    assert mxnet_labels(step, GRAPH)[8:] == [("rm_sprop", "update"), None]
