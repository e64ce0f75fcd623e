"""Layer, direction, operator and category of kernels, engine by engine."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlprof.ingest.attribution import by_launch, by_order, by_path, flops, names, paths
from dlprof.ingest.attribution.categories import CATEGORIES, category
from dlprof.ingest.attribution.labels import Labels, Model, model_of, snake
from dlprof.ingest.kernels.linking import link
from dlprof.ingest.kernels.trace import CPU, Kind, Lane, Trace
from dlprof.ingest.parse.hlo import Instruction

MODEL = Model(("dense_1", "dense_2", "dense_1_1"), ("sequential",), ("rm_sprop", "RMSprop"))


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("StatefulPartitionedCall/sequential_1/dense_2_1/MatMul", ("dense_2", "forward")),
        ("StatefulPartitionedCall/sequential_1/dense_1_1/MatMul", ("dense_1_1", "forward")),
        ("StatefulPartitionedCall/gradient_tape/sequential_1/dense_2_1/MatMul/MatMul", ("dense_2", "backward")),
        ("StatefulPartitionedCall/rm_sprop/Square_2", ("rm_sprop", "update")),
        ("StatefulPartitionedCall/compile_loss/categorical_crossentropy/Sum", ("loss", "forward")),
        ("StatefulPartitionedCall/gradient_tape/compile_loss/mul", ("loss", "backward")),
        ("jit(train_step)/jvp(dense_1)/dot_general", ("dense_1", "forward")),
        ("jit(train_step)/transpose(jvp(dense_2))/dot_general", ("dense_2", "backward")),
        ("jit(train_step)/jvp(dense_1)/jit(_bernoulli)/jit(_uniform)/while", ("dense_1", "forward")),
        ("StatefulPartitionedCall/ArgMax", (None, None)),
    ],
)
def test_name_scopes_tell_layer_and_direction(path: str, label: tuple[str | None, str | None]) -> None:
    """TensorFlow's and JAX's; a layer that is really called dense_1_1 is not taken for dense_1."""
    assert paths.label(path, MODEL) == label


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("StatefulPartitionedCall/ArgMax", ("metrics", "forward")),
        ("StatefulPartitionedCall/gradient_tape/mul", (None, "backward")),
        ("StatefulPartitionedCall/sequential_1/mul", (None, None)),
        ("ArgMax", (None, None)),
        ("", (None, None)),
    ],
)
def test_what_has_no_scope_in_a_step_of_keras_own_is_the_metrics(
    path: str, label: tuple[str | None, str | None]
) -> None:
    """An operator outside the compiled step is not: it may be anything."""
    assert paths.label(path, dataclasses.replace(MODEL, keras_steps=True)) == label


def test_a_run_with_one_step_of_the_users_own_has_no_such_steps() -> None:
    """Older runs, which do not tell, neither."""
    layers = [{"name": "dense_1", "class": "Dense"}]
    keras, own, old = (
        {"layers": layers, "keras_steps": True},
        {"layers": layers, "keras_steps": False},
        {"layers": layers},
    )

    assert model_of([keras, keras], []).keras_steps
    assert not model_of([keras, own], []).keras_steps
    assert not model_of([old], []).keras_steps
    assert not model_of([], []).keras_steps


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("replica_4/bert/encoder/layer_5/dropout_1/GreaterEqual", ("bert/encoder/layer_5/dropout_1", "forward")),
        ("training/RMSprop/gradients/dense_3/BiasAdd_grad/BiasAddGrad", ("dense_3", "backward")),
        ("training/RMSprop/mul_3", ("RMSprop", "update")),
        ("jit(f)/jit(relu)/max", (None, None)),
    ],
)
def test_without_a_model_the_scope_stands_for_the_layer(path: str, label: tuple[str | None, str | None]) -> None:
    """Plumbing of the engine is left out of it."""
    found = paths.label(path, Model())

    assert found == label


@pytest.mark.parametrize(
    ("op", "found"),
    [
        ("_MklMatMul", "matmul"), ("dot_general", "matmul"), ("aten::addmm", "matmul"), ("FullyConnected", "matmul"),
        ("volta_sgemm_32x128_nn", "matmul"), ("CGemv{inplace}", "matmul"), ("aten::miopen_convolution", "conv"),
        ("_MklNativeConv2DBackpropFilterWithBias", "conv"), ("convert_element_type", "data movement"),
        ("aten::native_batch_norm_backward", "normalisation"), ("aten::_softmax", "reduction"), ("Sum", "reduction"),
        ("rmsprop_update", "optimiser"), ("ResourceApplyAdam", "optimiser"), ("StatelessRandomUniformV2", "random"),
        ("Dropout", "random"), ("_backward_broadcast_add", "elementwise"), ("ReluGrad", "elementwise"),
        ("aten::copy_", "data movement"), ("[CUDA memcpy HtoD]", "transfer"), ("aten::embedding", "embedding"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float", "collective"), ("CudnnRNNV3", "recurrent"), ("zzz", "other"),
        ("cudnn::detail::dgrad_engine", "conv"), ("wgrad_alg0_engine", "conv"), ("BiasAddGrad", "elementwise"),
    ],
)  # fmt: skip
def test_operators_of_all_engines_have_a_category(op: str, found: str) -> None:
    """By their names."""
    assert category(op) == found
    assert found in CATEGORIES


def test_the_optimiser_has_one_name_on_every_backend() -> None:
    """Keras 3 gives it one, Keras 2 only has the class."""
    modern = model_of([{"layers": [], "models": [], "optimizer": {"name": "rmsprop", "class": "RMSprop"}}], [])
    classic = model_of([{"layers": [], "models": [], "optimizer": {"name": None, "class": "RMSprop"}}], [])

    assert modern.optimizers == ("rmsprop", "rm_sprop", "RMSprop")
    assert classic.optimizers[0] == "rm_sprop"
    assert snake("RMSprop") == "rm_sprop"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("_fused_dropout, seq = 119", "_fused_dropout"),
        ("{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': ''}]}", "torch.nn.functional.linear"),
        (
            "<built-in method run_backward of Engine object at 0x7fc958eaf2d0>",
            "<built-in method run_backward of Engine>",
        ),
    ],
)
def test_names_of_ranges_are_made_plain(given: str, found: str) -> None:
    """Without sequence numbers, arguments and addresses."""
    assert names.plain(given) == found


def test_operations_are_known_where_shapes_are() -> None:
    """Two for each multiplication of a matrix product."""
    assert flops.of_torch("aten::mm", "[[2, 3], [3, 5]]") == 60.0
    assert flops.of_torch("aten::addmm", "[[5], [2, 3], [3, 5], [], []]") == 60.0
    assert flops.of_torch("aten::mm", "[[2, 3], [4, 5]]") is None
    assert flops.of_torch("aten::mm", "not json") is None


# -- PyTorch: annotations, autograd, launches --------------------------------------------------------------


def torch_trace(rows: list[tuple[Kind, str, int, int, int, int, int]]) -> tuple[Trace, dict[str, Any]]:
    """A trace of (kind, name, start, duration, device, lane, link)."""
    trace = Trace(Path("t.json"), "kineto", "torch")
    for number in range(3):
        trace.lane(number, Lane(0, number, str(number), CPU))
    columns = dict(zip(("kind", "name", "start", "dur", "device", "lane", "link"), zip(*rows)))
    trace.add(**{**columns, "name": [trace.names.number(name) for name in columns["name"]]})
    return trace, trace.columns()


def labelled(trace: Trace, columns: dict[str, Any], labels: Labels) -> list[tuple[str, Any, Any]]:
    """(name, (layer, direction), operator) of every event."""
    return [
        (trace.names[n], labels.pairs[label] if label >= 0 else None, labels.ops[op] if op >= 0 else None)
        for n, label, op in zip(columns["name"], labels.label, labels.op)
    ]


def test_backward_operators_of_torch_find_their_layer_by_sequence_number() -> None:
    """And the kernels by what launched them; gradients are added up for the layer before."""
    trace, columns = torch_trace([
        (Kind.ANNOTATION, "dlprof:layer:dense_1", 0, 100, CPU, 0, -1),
        (Kind.OPERATOR, "aten::linear", 10, 50, CPU, 0, 7),
        (Kind.OPERATOR, "aten::addmm", 20, 30, CPU, 0, 7),
        (Kind.RUNTIME, "cudaLaunchKernel", 25, 5, CPU, 0, 1),
        (Kind.KERNEL, "sgemm", 60, 20, 0, 2, 1),
        (Kind.OPERATOR, "autograd::engine::evaluate_function: AddmmBackward0", 200, 40, CPU, 1, 7),
        (Kind.OPERATOR, "aten::mm", 210, 20, CPU, 1, -1),
        (Kind.RUNTIME, "cudaLaunchKernel", 215, 5, CPU, 1, 2),
        (Kind.KERNEL, "sgemm_t", 230, 20, 0, 2, 2),
        (Kind.OPERATOR, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 250, 10, CPU, 1, -1),
        (Kind.ANNOTATION, "dlprof:optimizer:rmsprop", 300, 50, CPU, 0, -1),
        (Kind.OPERATOR, "aten::mul_", 310, 10, CPU, 0, -1),
    ])  # fmt: skip

    found = {
        name: rest
        for name, *rest in labelled(trace, columns, by_launch.attribute(trace, columns, MODEL, link(columns)))
    }

    assert found["aten::addmm"] == [("dense_1", "forward"), "aten::addmm"]
    assert found["sgemm"] == [("dense_1", "forward"), "aten::addmm"]
    assert found["aten::mm"] == [("dense_1", "backward"), "aten::mm"]
    assert found["sgemm_t"] == [("dense_1", "backward"), "aten::mm"]
    assert found["autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"][0] == ("dense_1", "backward")
    assert found["aten::mul_"] == [("rm_sprop", "update"), "aten::mul_"]


# -- MXNet: order of execution ---------------------------------------------------------------------------------


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


def mxnet_labels(executed: list[str], graph: dict[str, Any]) -> list[tuple[str | None, str | None] | None]:
    """Labels of operators executed one after the other."""
    trace = Trace(Path("p.json"), "mxnet", "mxnet")
    trace.lane(0, Lane(0, 0, "engine"))
    trace.add(
        kind=[Kind.OPERATOR] * len(executed), name=[trace.names.number(name) for name in executed],
        start=range(len(executed)), dur=[1] * len(executed), device=[CPU] * len(executed), lane=[0] * len(executed),
    )  # fmt: skip
    labels = by_order.attribute(trace, trace.columns(), Model(("dense_1", "dense_2"), (), ("rm_sprop",), (graph,)))
    return [labels.pairs[label] if label >= 0 else None for label in labels.label.tolist()]


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


# -- XLA: programs -------------------------------------------------------------------------------------------------


def test_instructions_that_xla_inserted_belong_to_their_neighbours() -> None:
    """A copy to what made its value, other work to who uses it, and what has no neighbour to XLA."""

    def instruction(name: str, opcode: str, path: str, number: int, operands: tuple[int, ...]) -> Instruction:
        return Instruction(name, opcode, path, "", (), operands, number)

    program = {
        i.name: i
        for i in (
            instruction("dot.1", "dot", "jit(f)/jvp(dense_1)/dot_general", 1, ()),
            instruction("copy.2", "copy", "", 2, (1,)),
            instruction("fusion.3", "fusion", "", 3, ()),
            instruction("scatter.4", "scatter", "jit(f)/transpose(jvp(dense_2))/scatter", 4, (3,)),
            instruction("copy.5", "copy", "", 5, ()),
        )
    }
    trace = Trace(Path("x.pb"), "xspace", "xla", programs={"jit_f(1)": program})
    trace.lane(0, Lane(0, 0, "tf_XLAEigen"))
    for name in program:
        scope = trace.scopes.number(f"hlo\t{name}\tjit_f\t1\t")
        trace.add(
            kind=[Kind.OPERATOR],
            name=[trace.names.number(name)],
            start=[0],
            dur=[1],
            device=[CPU],
            lane=[0],
            scope=[scope],
        )
    columns = trace.columns()

    found = labelled(trace, columns, by_path.attribute(trace, columns, MODEL))

    assert found == [
        ("dot.1", ("dense_1", "forward"), "dot_general"), ("copy.2", ("dense_1", "forward"), "copy"),
        ("fusion.3", ("dense_2", "backward"), "fusion"), ("scatter.4", ("dense_2", "backward"), "scatter"),
        ("copy.5", ("(xla)", None), "copy"),
    ]  # fmt: skip


def test_threads_of_tf_data_are_input() -> None:
    """Whatever they run."""
    trace = Trace(Path("x.pb"), "xspace", "tensorflow")
    trace.lane(0, Lane(0, 0, "tf_data_private_threadpool/1"))
    trace.add(
        kind=[Kind.OPERATOR], name=[trace.names.number("GatherV2:GatherV2")], start=[0], dur=[1], device=[CPU], lane=[0]
    )
    columns = trace.columns()

    assert labelled(trace, columns, by_path.attribute(trace, columns, MODEL))[0][1] == ("input", None)
    assert np.all(columns["kind"] == Kind.OPERATOR)
