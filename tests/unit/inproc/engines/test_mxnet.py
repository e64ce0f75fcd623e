"""MXNet's graphs are kept for attribution, and taken apart for a window only."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.engines import mxnet
from dlprof_probes.inproc.engines.mxnet import MXNetTracer

from tests.contracts.engine_exercise import fake_keras


def bound(mx: Any) -> Any:
    """A module that is bound to two rows."""
    module = mx.mod.Module(mx.sym.Variable("data") * 2)
    module.bind([("data", (2,))])
    return module


def kept(folder: Path, *modules: Any) -> Any:
    """The graphs of modules."""
    graphs = mxnet._Graphs(str(folder / "graphs"))
    for module in modules:
        graphs.made(module)
    return graphs


def hybridized(mx: Any) -> Any:
    """A block of Gluon with one block inside, whose graph was made."""
    inner = mx.gluon.HybridBlock("net_dense0_")
    block = mx.gluon.HybridBlock("net_", [inner])
    nodes = [{"op": "FullyConnected", "name": "net_dense0_fwd", "inputs": []}]
    block._build_cache(mx.sym.Symbol("net", None, nodes))
    return block


def test_a_bound_graph_is_written_with_the_layers_that_gave_its_nodes(probed: Callable[..., Any]) -> None:
    """By the names of the symbols that a layer's call gave."""
    setup = probed("mxnet")
    import mxnet as mx

    keras = fake_keras()
    setup.engine.under_keras(keras)
    keras.layer()(SimpleNamespace(_train_sym=SimpleNamespace(name="mul0"), _pred_sym=None))
    module = bound(mx)
    setup.engine._graphs.write()
    assert module is not None

    facts = json.loads(Path(setup.windows.folder, "mxnet-graph-000.json").read_text())
    assert facts == {
        "nodes": [
            {"op": "null", "name": "data", "inputs": []},
            {"op": "_mul_scalar", "name": "mul0", "inputs": [0]},
        ],
        "layer_names": ["dense"],
        "outputs": {"dense": ["mul0"]},
        "training": True,
    }


def test_a_hybridized_block_is_written_with_its_inner_blocks(probed: Callable[..., Any]) -> None:
    """Each node under the name of the block that made it."""
    setup = probed("mxnet")
    import mxnet as mx

    block = hybridized(mx)
    setup.engine._blocks.write()
    assert block is not None

    facts = json.loads(Path(setup.windows.folder, "gluon-graph-000.json").read_text())
    assert facts["layer_names"] == ["net_dense0"]
    assert facts["nodes"] == [{"op": "FullyConnected", "name": "net_dense0/net_dense0_fwd", "inputs": []}]


def test_graphs_are_written_for_windows_only(probed: Callable[..., Any], tmp_path: Path) -> None:
    """Of what is in use then, each once: programs make many of them."""
    probed("mxnet")
    import mxnet as mx

    module = bound(mx)
    graphs = kept(tmp_path, module, bound(mx))  # the second one is gone at once
    assert not (tmp_path / "graphs").exists()

    graphs.write()
    graphs.write()

    assert os.listdir(tmp_path / "graphs") == ["mxnet-graph-000.json"]


def test_hybridizing_is_a_compilation(probed: Callable[..., Any]) -> None:
    """Named by the block's class."""
    setup = probed("mxnet")
    import mxnet as mx

    hybridized(mx)

    spans = [(span.kind, span.name) for span in setup.stream().spans.values()]
    assert ("graph_compile", "hybridize HybridBlock") in spans


def test_shapes_that_were_given_by_name_tell_no_cause(probed: Callable[..., Any]) -> None:
    """The compilation counts all the same, and no hook fails."""
    setup = probed("mxnet")
    import mxnet as mx

    mx.mod.Module(mx.sym.Variable("data")).bind(data_shapes=[("data", (2,))])

    stream = setup.stream()
    assert [span.detail for span in stream.spans.values() if span.kind == "graph_compile"] == [{}]
    assert stream.notes == []


def test_operators_run_one_by_one_in_a_window_only(probed: Callable[..., Any], tmp_path: Any) -> None:
    """The executor that was bound takes over again."""
    setup = probed("mxnet")
    import mxnet as mx

    module = bound(mx)
    setup.engine.under_keras(fake_keras())
    setup.engine.under_keras(fake_keras())
    before = module._exec_group.execs[0]
    tracer = MXNetTracer(kept(tmp_path, module))

    tracer.start(str(tmp_path))
    during = module._exec_group.execs[0]
    module.forward(mx.io.DataBatch([mx.nd.ones((2,))]))
    tracer.stop()

    assert (before.bulk, during.bulk) == (True, False)
    assert module._exec_group.execs[0] is before
    assert "MXNET_EXEC_BULK_EXEC_TRAIN" not in os.environ
    assert json.loads((tmp_path / "profile.json").read_text()) == {"traceEvents": [{"name": "operator"}]}


def test_what_is_bound_while_a_whole_loop_is_traced_runs_one_by_one(
    probed: Callable[..., Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--kernels all`: its graph is bound in the first step. Afterwards the environment is the user's own."""
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "1")
    setup = probed("mxnet")
    import mxnet as mx

    setup.engine.under_keras(fake_keras())
    tracer = MXNetTracer(kept(tmp_path))
    tracer.whole_loops = True

    tracer.start(str(tmp_path))
    module = bound(mx)
    tracer.stop()

    assert module._exec_group.execs[0].bulk is False
    assert os.environ["MXNET_EXEC_BULK_EXEC_TRAIN"] == "1"
    assert "MXNET_EXEC_BULK_EXEC_INFERENCE" not in os.environ


def test_what_gluon_runs_is_not_bulked_in_a_window(probed: Callable[..., Any], tmp_path: Any) -> None:
    """A block's own graph gets other flags, and is its own again afterwards."""
    setup = probed("mxnet")
    import mxnet as mx

    block = hybridized(mx)
    before = block._cached_op
    tracer = setup.engine.make_tracer()

    tracer.start(str(tmp_path))
    during, size = block._cached_op.flags, mx.engine.state["bulk_size"]
    tracer.stop()

    assert during == {"static_alloc": True, "forward_bulk_size": 0, "backward_bulk_size": 0}
    assert size == 0
    assert block._cached_op is before
    assert mx.engine.state["bulk_size"] == 15


def test_a_start_that_fails_is_undone_by_stop(probed: Callable[..., Any], tmp_path: Any) -> None:
    """A second module that cannot be bound anew leaves the first as it was."""
    probed("mxnet")
    import mxnet as mx

    good, bad = bound(mx), bound(mx)
    before = good._exec_group.execs[0]
    bad._exec_group.execs = [None]
    tracer = MXNetTracer(kept(tmp_path, good, bad))

    with pytest.raises(AttributeError):
        tracer.start(str(tmp_path))
    with pytest.raises(RuntimeError):
        tracer.stop()

    assert good._exec_group.execs[0] is before
    assert mx.engine.state["bulk_size"] == 15


def test_a_second_trace_of_a_process_is_made_whole(probed: Callable[..., Any], tmp_path: Any) -> None:
    """MXNet leaves out how the file begins."""
    setup = probed("mxnet")
    import mxnet as mx

    module = bound(mx)
    setup.engine.under_keras(fake_keras())
    tracer = MXNetTracer(kept(tmp_path, module))
    for _ in range(2):
        tracer.start(str(tmp_path))
        module.forward(mx.io.DataBatch([mx.nd.ones((2,))]))
        tracer.stop()

    assert json.loads((tmp_path / "profile.json").read_text()) == {"traceEvents": [{"name": "operator"}]}


def test_threads_are_those_of_openmp(probed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Or half of what it would see."""
    setup = probed("mxnet")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    told = setup.engine.threads(None)
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr("dlprof_probes.inproc.engines.mxnet._affinity", lambda _pid: set(range(8)))

    assert (told, setup.engine.threads(None)) == (3, 4)


def test_what_the_largest_bound_graph_was_planned_to_need_is_told(probed: Callable[..., Any]) -> None:
    """In whole MiB, as its executor prints it."""
    setup = probed("mxnet")
    import mxnet as mx

    modules = [bound(mx), bound(mx)]
    for module, planned in zip(modules, (3, 12), strict=True):
        text = f"Op:relu, Name=relu0\nTotal {planned} MB allocated\nTotal 0 TempSpace resource requested\n"
        module._exec_group.execs[0].debug_str = lambda text=text: text

    assert setup.engine.allocated(mx)["step_bytes"] == 12 << 20


def test_a_trainer_tells_how_many_numbers_it_trains_and_their_type() -> None:
    """Of several types that of most numbers; a type is a class of NumPy's, or its name."""
    engine = object.__new__(mxnet.MXNet)
    weights = [SimpleNamespace(shape=(64, 3), dtype=np.float64), SimpleNamespace(shape=(3,), dtype="float32")]

    assert engine.trained_weights(SimpleNamespace(_params=weights)) == {"count": 195, "dtype": "float64"}


def test_a_modules_optimiser_trains_the_weights_of_all_modules_that_share_it() -> None:
    """Those of a bucket are the same as of another, under the same names."""
    engine = object.__new__(mxnet.MXNet)
    optimizer, weight = SimpleNamespace(), SimpleNamespace(shape=(4, 3), dtype=np.float32)
    shared = SimpleNamespace(_optimizer=optimizer, _arg_params={"fc_weight": weight})
    engine._bound = [shared, shared, SimpleNamespace(_optimizer=None, _arg_params={"other": weight})]

    assert engine.trained_weights(optimizer) == {"count": 12, "dtype": "float32"}
    assert engine.trained_weights(SimpleNamespace()) is None


def test_nodes_of_an_unrolled_cell_are_one_layer(probed: Callable[..., Any]) -> None:
    """A module without Keras tells no layers: its nodes are, and those of all time steps of a cell together."""
    setup = probed("mxnet")
    import mxnet as mx

    nodes = [
        {"op": "FullyConnected", "name": f"lstm_l0_t{step}_{part}", "inputs": []}
        for step in range(2)
        for part in ("i2h", "h2h")
    ]
    module = mx.mod.Module(mx.sym.Symbol("net", None, nodes))
    facts = setup.engine._graphs.facts_of(module)

    assert (facts["layer_names"], facts["ends"]) == (["lstm_l0"], [3])
