"""Own loops that start operations one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    Call,
    Planted,
    Tables,
    cpu,
    diagnosed,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

LOOP: list[Call] = [("<module>", "train.py", 50), ("step", "train.py", 34)]
STARTS: list[Call] = [("_operator_mul", "jax/_src/numpy/array_methods.py", 9), ("multiply", "jax/_src/lax/lax.py", 7)]


def looping(*calls: Call, hits: int | None = 500) -> Tables:
    """4 s of the script in a loop, of which 3 stand in these frames below its line."""
    phases = [{"phase": "import", "parent": None, "dur_ns": 2 * S, "count": 1}, *runs.phases(script=6, teardown=2)]
    return quiet(
        phases=phases,
        phase_intervals=runs.intervals(("import", 0, 2), ("script", 2, 8), ("teardown", 8, 10)),
        steps=[],
        lines=[line(50, hits), line(34, hits)],
        **sampled((2, 5, [*LOOP, *calls]), (5, 8, LOOP[:1])),
    )


def line(number: int, hits: int | None) -> dict[str, Any]:
    """A row of `lines`."""
    return {"file": "train.py", "function": "f", "first_line": 1, "line": number, "hits": hits, "time_ns": 0}


def test_operations_that_a_loop_starts_one_by_one_are_eager_execution(tmp_path: Path) -> None:
    """For 3 s, of which a compiled step saves most; the line is that of the loop."""
    finding = pick(diagnosed(tmp_path / "r", on("jax"), **looping(*STARTS)), "eager-execution")

    assert finding.at_stake_ns == pytest.approx(0.93 * 3 * S, rel=0.01)
    assert finding.line == 50
    assert "@jax.jit" in str(finding.fix)


@pytest.mark.parametrize(("operations_s", "saved_s"), [(2.5, 3.0), (1.0, 2.0)])
def test_the_engines_python_around_operations_is_saved_with_them(
    operations_s: float, saved_s: float, tmp_path: Path
) -> None:
    """3 s of operations and of walks over trees of arrays; of the walks no more than there is of operations."""
    tables = looping()
    walks: list[Call] = [*LOOP, ("tree_map", "jax/_src/tree_util.py", 399)]
    tables |= sampled((2, 2 + operations_s, [*LOOP, *STARTS]), (2 + operations_s, 5, walks), (5, 8, LOOP[:1]))
    finding = pick(diagnosed(tmp_path / "r", on("jax"), **tables), "eager-execution")

    assert finding.at_stake_ns == pytest.approx(0.93 * saved_s * S, rel=0.01)


def test_sessions_are_no_operations_one_by_one(tmp_path: Path) -> None:
    """False for an hour: a session runs a graph, however few operations a script also starts itself."""
    session: list[Call] = [*LOOP, ("Session.run", "tensorflow/python/client/session.py", 977)]
    started: list[Call] = [*LOOP, ("add", "tensorflow/python/ops/math_ops.py", 5)]
    tables = looping() | sampled((2, 5, session), (5, 5.5, started), (5.5, 8, LOOP[:1]))

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "r", on("tensorflow"), **tables))


@pytest.mark.parametrize(("drawn", "warned"), [("np.random.normal(size=4)", True), ("jax.random.normal(key)", False)])
def test_numbers_that_a_traced_function_would_draw_once_are_warned_of(drawn: str, warned: bool, tmp_path: Path) -> None:
    """In the function that starts the operations."""
    tables = looping(*STARTS)
    source = "\n" * 31 + f"def step(x):\n    noise = {drawn}\n    return x * noise\n"
    finding = pick(Planted(tables, on("jax"), source=source).diagnosis(tmp_path), "eager-execution")

    assert ("must be drawn by the engine" in finding.next_step) is warned


@pytest.mark.parametrize(
    ("counted", "warned"),
    [
        ("self.t += 1.0", True),
        ("self.total += x.size", False),
        ("global done; done += 1", True),
        ("count = 0; count += 1", False),
    ],
)
def test_what_a_traced_function_would_count_once_is_warned_of(counted: str, warned: bool, tmp_path: Path) -> None:
    """As a bias correction of an optimiser that was written by hand: what outlives the function, by a number."""
    source = "\n" * 31 + f"def step(x):\n    {counted}\n    return x\n"
    finding = pick(Planted(looping(*STARTS), on("jax"), source=source).diagnosis(tmp_path), "eager-execution")

    assert ("What it counts in Python" in finding.next_step) is warned
    assert ("`self.t += 1.0`" in finding.next_step) is (counted == "self.t += 1.0")


def test_a_method_is_known_by_its_name_without_its_class(tmp_path: Path) -> None:
    """Stacks have the class before it."""
    calls: list[Call] = [LOOP[0], ("Model.step", *LOOP[1][1:]), *STARTS]
    tables = looping() | sampled((2, 5, calls), (5, 8, LOOP[:1]))
    source = "\n" * 31 + "def step(x):\n    self.t += 1\n    return x\n"
    finding = pick(Planted(tables, on("jax"), source=source).diagnosis(tmp_path), "eager-execution")

    assert "`self.t += 1`" in finding.next_step


def test_what_runs_once_or_brings_data_over_is_not(tmp_path: Path) -> None:
    """Initial weights; batches that become arrays."""
    once = looping(*STARTS, hits=4)
    arrays = looping(("asarray", "jax/_src/numpy/array_constructors.py", 3), *STARTS)

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "a", on("jax"), **once))
    assert "eager-execution" not in slugs(diagnosed(tmp_path / "b", on("jax"), **arrays))


def test_a_function_that_is_traced_is_no_loop_of_operations(tmp_path: Path) -> None:
    """Python runs it to make its graph."""
    tables = looping()
    traced = [LOOP[0], ("trace_to_jaxpr", "jax/_src/interpreters/partial_eval.py", 3), LOOP[1], *STARTS]
    tables |= sampled((2, 5, traced), (5, 8, LOOP[:1]))

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "r", on("jax"), **tables))


def test_a_network_of_gluon_that_is_not_hybridized_is_eager(tmp_path: Path) -> None:
    """One that is runs through the same files, as one operation."""
    invoked: tuple[str, str, int] = ("_imperative_invoke", "mxnet/_ctypes/ndarray.py", 64)
    cached: tuple[str, str, int] = ("_call_cached_op", "mxnet/gluon/block.py", 1233)
    gluon = runs.manifest(keras=None, engine={"name": "mxnet", "version": "1.9.1"})

    block: tuple[str, str, int] = ("HybridBlock.forward", "mxnet/gluon/block.py", 1502)

    finding = pick(diagnosed(tmp_path / "a", gluon, **looping(block, invoked)), "eager-execution")

    assert finding.at_stake_ns == pytest.approx(0.7 * 3 * S, rel=0.01)
    assert "hybridize()" in str(finding.fix)
    graph = looping(block, cached, ("__call__", "mxnet/_ctypes/ndarray.py", 125))
    assert "eager-execution" not in slugs(diagnosed(tmp_path / "b", gluon, **graph))
    assert "eager-execution" not in slugs(diagnosed(tmp_path / "c", gluon, **looping(invoked)))


BACK = ("NDArray.backward", "mxnet/ndarray/ndarray.py", 2869)
SINGLE = {"op": "tanh", "category": "elementwise", "layer": None, "direction": None, "ms": 0.1}


@pytest.mark.parametrize(("operators", "layer", "is_told"), [(40, None, True), (9, None, False), (40, "dense0", False)])
def test_a_network_that_samples_hardly_meet_is_told_by_what_the_window_has(
    operators: int, layer: str | None, is_told: bool, tmp_path: Path
) -> None:
    """A twentieth of the loop forward, a third back: many operators, of which none was compiled, as layers would tell."""
    gluon = runs.manifest(keras=None, engine={"name": "mxnet", "version": "1.9.1"})
    forward = [
        LOOP[0],
        ("HybridBlock.forward", "mxnet/gluon/block.py", 1502),
        ("_imperative_invoke", "mxnet/_ctypes/ndarray.py", 64),
    ]
    stood = sampled((2, 2.3, forward), (2.3, 4.3, [LOOP[0], BACK]), (4.3, 8, LOOP[:1]))
    rows = [{**SINGLE, "name": f"tanh {number}"} for number in range(operators)]
    window = runs.window([*rows, {**SINGLE, "op": "FullyConnected", "layer": layer}])
    tables = {**quiet(lines=[line(50, 500)]), **stood, **window}

    assert ("eager-execution" in slugs(diagnosed(tmp_path / "r", gluon, **tables))) is is_told


def test_the_loss_of_a_compiled_network_is_not_worth_compiling(tmp_path: Path) -> None:
    """Its own operators are two in a step; the others are of layers."""
    gluon = runs.manifest(keras=None, engine={"name": "mxnet", "version": "1.9.1"})
    loss = [
        LOOP[0],
        ("Loss.forward", "mxnet/gluon/block.py", 1502),
        ("_imperative_invoke", "mxnet/_ctypes/ndarray.py", 64),
    ]
    window = runs.window([SINGLE, {**SINGLE, "op": "mean"}, {**SINGLE, "op": "FullyConnected", "layer": "dense0"}])
    tables = {**quiet(lines=[line(50, 500)]), **sampled((2, 5, loss), (5, 8, LOOP[:1])), **window}

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "r", gluon, **tables))


def test_batches_that_are_asked_for_are_no_operations_of_the_step(tmp_path: Path) -> None:
    """False before: TensorFlow asks its pipeline through the same files."""
    asked: Call = ("_next_internal", "tensorflow/python/data/ops/iterator_ops.py", 776)
    got: Call = ("iterator_get_next", "tensorflow/python/ops/gen_dataset_ops.py", 3081)

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "r", on("tensorflow"), **looping(asked, got)))


def test_what_a_script_does_around_a_training_of_keras_is_no_training(tmp_path: Path) -> None:
    """False on a script that was mended: images are made one by one before fit."""
    fitted = {**looping(*STARTS), "steps": runs.steps(50, start_s=5), "spans": [runs.fit_span()]}

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "r", on("jax"), **fitted))


@pytest.mark.parametrize(("turns", "found"), [(5, True), (2, False)])
def test_a_loop_whose_lines_were_not_counted_is_known_by_samples_that_find_it_again(
    tmp_path: Path, turns: int, found: bool
) -> None:
    """Counting was thinned: line 34 is come to five times in 3 s, or twice, as where a network is built."""
    tables = looping(*STARTS, hits=None)
    each = 3 / turns
    stood = [(2 + n * each, 2 + (n + 0.9) * each, [*LOOP, *STARTS]) for n in range(turns)]
    other = [("<module>", "train.py", 50), ("step", "train.py", 33)]
    between = [(2 + (n + 0.9) * each, 2 + (n + 1) * each, other) for n in range(turns)]
    tables |= sampled(*stood, *between, (5, 8, LOOP[:1]))

    assert ("eager-execution" in slugs(diagnosed(tmp_path / "r", on("jax"), **tables))) is found


def test_changed_copies_of_whole_arrays_are_told_how_to_do_without(tmp_path: Path) -> None:
    """`buffer.at[i].set(row)` outside of a compiled function."""
    updating: Call = ("_scatter_update", "jax/_src/ops/scatter.py", 83)
    finding = pick(diagnosed(tmp_path / "r", on("jax"), **looping(STARTS[0], updating, STARTS[1])), "eager-execution")

    assert str(finding.fix).startswith("keep the array in NumPy and write into it")
    assert "each makes a copy of all of it" in finding.next_step


LAYER: list[Call] = [("__call__", "keras/src/layers/layer.py", 936), ("call", "keras/src/layers/core/dense.py", 180)]
DEEP: list[Call] = [*LAYER, *[("wrapper", "keras/src/backend/tensorflow/numpy.py", n) for n in range(4)]]


def stepping(*calls: Call, kernels_ms: float = 2) -> Tables:
    """6 s of steps of 20 ms in a loop of TensorFlow, of which 4 s stand in these frames below its line."""
    one = {"op": "MatMul", "category": "matmul", "ms": kernels_ms}
    return quiet(
        lines=[line(50, 500), line(34, 500)],
        **runs.window([one]),
        **sampled((2, 6, [*LOOP, *calls]), (6, 8, LOOP[:1])),
    )


def eager_ns(path: Path, tables: Tables) -> list[int]:
    """What is at stake by eager execution."""
    told = runs.manifest(keras=None, engine={"name": "tensorflow", "version": "2.21"})
    return [one.at_stake_ns for one in diagnosed(path, told, **tables).findings if one.slug == "eager-execution"]


def test_layers_that_a_loop_calls_start_operations_however_deep_they_are(tmp_path: Path) -> None:
    """Two thirds of the steps, but for a tenth in kernels."""
    assert eager_ns(tmp_path / "r", stepping(*DEEP)) == [pytest.approx(0.93 * 3.4 * S, rel=0.01)]


def test_kernels_below_calls_of_keras_would_take_as_long_in_a_compiled_function(tmp_path: Path) -> None:
    """Of 20 ms they take 12, which may be all that stands there."""
    assert eager_ns(tmp_path / "r", stepping(*DEEP, kernels_ms=12)) == []


def test_layers_that_are_traced_or_saved_are_no_eager_execution(tmp_path: Path) -> None:
    """A call of a `tf.function` whose own code is not the user's; a checkpoint."""
    traced: Call = ("trace_function", "tensorflow/python/eager/polymorphic_function/tracing_compilation.py", 9)
    saved: Call = ("save_model", "keras/src/saving/saving_api.py", 9)

    assert eager_ns(tmp_path / "a", stepping(traced, *DEEP)) == []
    assert eager_ns(tmp_path / "b", stepping(saved, *DEEP)) == []


def test_the_loss_of_gluon_alone_is_no_model_that_is_not_hybridized(tmp_path: Path) -> None:
    """False before: the network was hybridized, its loss was not, and its few operations were 8 % of a short run."""
    loss: Call = ("SoftmaxCrossEntropyLoss.hybrid_forward", "mxnet/gluon/loss.py", 401)
    block: Call = ("HybridBlock.forward", "mxnet/gluon/block.py", 1502)
    invoked: Call = ("_imperative_invoke", "mxnet/_ctypes/ndarray.py", 64)
    gluon = runs.manifest(keras=None, engine={"name": "mxnet", "version": "1.9.1"})

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "r", gluon, **looping(block, loss, invoked)))


def compiling(name: str) -> Tables:
    """3 of 6 s of steps stand in operations that line 34 starts, below line 50, and 6 of 20 ms run no operator."""
    compiled = {
        **runs.fit_span(),
        "span_id": 9,
        "kind": "graph_compile",
        "detail": json.dumps({"compiled": {"function": name}}),
    }
    own = {**runs.fit_span(), "detail": json.dumps({"how": "inferred"})}
    window = runs.window([{"op": "dot", "category": "matmul", "layer": None, "direction": "forward", "ms": 14}])
    stands = sampled((2, 5, [*LOOP, *STARTS]), (5, 8, LOOP[:1]))
    counted = cpu((2.0, BEGIN), (8.0, BUSY))
    return quiet(spans=[own, compiled], lines=[line(50, 500), line(34, 500)], **window, **stands, **counted)


_JAX = runs.manifest(keras=None, engine={"name": "jax", "version": "0.10.2"})
_ASYNC = {**_JAX, "backend": {**_JAX["backend"], "name": "jax", "asynchronous_dispatch": True}}
_CALL = "\n" * 49 + "state = step(state,\n             rows[pick])\n"


@pytest.mark.parametrize(("name", "at_stake_s"), [("step", 1.8), ("other", 3.0)])
def test_an_operation_that_waits_for_the_compiled_step_before_it_is_not_the_loops(
    name: str, at_stake_s: float, tmp_path: Path
) -> None:
    """It stands for 3 s, while operators run for 14 of 20 ms: 1.8 s are left; of a loop that calls nothing compiled, all."""
    finding = pick(Planted(compiling(name), _ASYNC, source=_CALL).diagnosis(tmp_path), "eager-execution")

    assert finding.at_stake_ns == pytest.approx(0.93 * at_stake_s * S, rel=0.01)


def test_arguments_of_a_compiled_function_are_to_be_made_inside_of_it(tmp_path: Path) -> None:
    """What the loop starts there are no steps that nobody compiled."""
    tables = compiling("step")
    for frame in tables["frames"]:
        frame["line"] = {50: 51}.get(frame["line"], frame["line"])
    tables["lines"] = [line(51, 500), line(34, 500), line(50, 500)]
    finding = pick(Planted(tables, _ASYNC, source=_CALL).diagnosis(tmp_path), "eager-execution")

    assert finding.next_step.startswith("What is started one by one makes the arguments of a function that is compiled")
    assert finding.fix == "give `step` the whole arrays and the indices, and index inside of it"


CALLED: list[Call] = [
    ("error_handler", "keras/src/utils/traceback_utils.py", 117),
    ("__call__", "keras/src/layers/layer.py", 936),
    ("conv2d", "tensorflow/python/ops/nn_ops.py", 2793),
]
EXECUTES: Call = ("quick_execute", "tensorflow/python/eager/execute.py", 53)


def serving(until_s: float) -> Tables:
    """A script of 6 s on TensorFlow that trains nothing: for 3 s a loop calls a model, from then on in its operators."""
    stood = sampled((2, until_s, [*LOOP, *CALLED]), (until_s, 5, [*LOOP, *CALLED, EXECUTES]), (5, 8, LOOP[:1]))
    return looping() | stood


def test_a_model_that_is_called_where_nothing_is_trained_is_to_be_compiled_itself(tmp_path: Path) -> None:
    """2 s in Python around its operators are sure; of 1 s in these half is taken, for kernels are in it."""
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow"), **serving(4)), "eager-execution")

    assert finding.claim.startswith("Each call of the model starts its operations one by one from Python")
    assert "1.86 s of it in Python around them" in finding.claim
    assert finding.at_stake_ns == pytest.approx(0.93 * 2.5 * S, rel=0.01)
    assert str(finding.fix).startswith("compiled = tf.function(model) in front of the loop")


@pytest.mark.parametrize(("until_s", "asked"), [(4.0, False), (2.3, True)])
def test_a_model_that_mostly_computes_is_asked_about(until_s: float, asked: bool, tmp_path: Path) -> None:
    """A compiled function computes as long; without a kernel window nothing tells for how long that is."""
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow"), **serving(until_s)), "eager-execution")

    assert finding.is_question is asked


@pytest.mark.parametrize(("calls", "found"), [(400, True), (4, False)])
def test_a_line_that_asked_for_so_many_values_is_in_a_loop(calls: int, found: bool, tmp_path: Path) -> None:
    """Where counting lines was thinned, and samples find it there all the time."""
    asked = {"what": "numpy()", "file": "train.py", "line": 50, "calls": calls}
    tables = looping(*STARTS, hits=None) | {"syncs": [{**asked, "dur_ns": S, "start_ns": 2 * S, "end_ns": 5 * S}]}

    assert ("eager-execution" in slugs(diagnosed(tmp_path / "r", on("jax"), **tables))) is found
