"""TensorFlow's graphs, the first calls of them, pipelines, switches and settings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes import wire
from dlprof_probes.inproc import facts, native_calls, recorder
from dlprof_probes.inproc.engines.tensorflow import TensorFlow, is_one_of_several, time_first_run

from dlprof.ingest.own import wire as reader
from tests.contracts.engine_exercise import fake_keras

NOBODY: Any = None
"""Nothing of the engine's own is asked."""


class Traced:
    """As `ConcreteFunction` of TensorFlow: what is set on one hides the method of its class."""

    name = "step"

    def _call_flat(self, value: int) -> int:
        if value < 0:
            raise ValueError("below 0")
        return 2 * value


@pytest.fixture
def probe(tmp_path: Path) -> SimpleNamespace:
    """A probe outside all loops."""
    (tmp_path / "status").write_bytes(b" " * 1024)
    out = recorder.Recorder(str(tmp_path / "inproc.wire"), str(tmp_path / "status"), lambda _path: False, False)
    return SimpleNamespace(recorder=out, guard=lambda hook: hook, current_loop=lambda: None)


def spans(probe: SimpleNamespace, folder: Path) -> list[tuple[str, str]]:
    """EventKind and name of the spans that were recorded."""
    probe.recorder.flush()
    return [(span.kind, span.name) for span in reader.read(folder / "inproc.wire").spans.values()]


def test_only_the_first_call_is_timed(probe: SimpleNamespace, tmp_path: Path) -> None:
    """The second is the class's own again."""
    function = Traced()
    time_first_run(probe, function, "step")

    results = [function._call_flat(1), function._call_flat(2)]

    assert results == [2, 4]
    assert vars(function) == {}
    assert spans(probe, tmp_path) == [("first_run", "first run of step")]


def test_a_first_call_that_fails_raises_what_it_raised(probe: SimpleNamespace, tmp_path: Path) -> None:
    """And its span ends."""
    function = Traced()
    time_first_run(probe, function, "step")

    with pytest.raises(ValueError, match="below 0"):
        function._call_flat(-1)

    assert probe.recorder.stack() == []
    assert len(spans(probe, tmp_path)) == 1


@pytest.mark.parametrize("inside", ["a loop", "another graph"])
def test_steps_and_parts_of_graphs_are_left_alone(probe: SimpleNamespace, inside: str) -> None:
    """The time of a step is known, and a part of a graph runs with it."""
    function: Any = Traced()
    if inside == "a loop":
        probe.current_loop = object
    else:
        probe.recorder.begin(wire.SpanKind.GRAPH_COMPILE, "trace")

    time_first_run(probe, function, "step")

    assert vars(function) == {}


def test_the_name_and_the_types_of_a_traced_function_are_told(probed: Callable[..., Any]) -> None:
    """As users write them."""
    setup = probed("tensorflow")
    import tensorflow as tf

    def doubled(value: Any) -> Any:
        return value * 2

    compiled = tf.function(doubled)
    compiled(tf.constant([1.0, 1.0]))
    compiled(tf.constant([1.0]))

    told = [(s.name, s.detail["compiled"]) for s in setup.stream().spans.values() if s.kind == "graph_compile"]
    change = {"argument": "value", "what": "shape", "before": "float32(2,)", "now": "float32(1,)"}
    assert told == [
        ("trace doubled", {"function": "doubled", "again": False, "cause": []}),
        ("trace doubled", {"function": "doubled", "again": True, "cause": [change]}),
    ]


def test_making_and_iterating_pipelines_is_data(probed: Callable[..., Any]) -> None:
    """In the script's own code."""
    setup = probed("tensorflow")
    import tensorflow as tf

    batches = list(tf.data.Dataset.from_tensor_slices([1, 2]))

    stream = setup.stream()
    assert batches == [1, 2]
    assert [(span.kind, span.name) for span in stream.spans.values()] == [
        ("data", "tf.data.from_tensor_slices"),
        ("on_batch", "tf.data"),
    ]
    assert len(stream.steps) == 3


def test_a_version_that_traces_elsewhere_is_reported(probed: Callable[..., Any]) -> None:
    """Its graphs are not seen."""
    setup = probed("tensorflow")
    del sys.modules["tensorflow.python.eager.polymorphic_function.tracing_compilation"]
    setup.engine.attach(sys.modules["tensorflow"])

    assert "tf.function tracing" in setup.probe.missing


def test_functions_that_graphs_call_are_told_on_threads_of_the_engine(
    probed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the entry that all of them go through; it gives what it gave."""
    setup = probed("tensorflow")
    from tensorflow.python.ops import script_ops

    monkeypatch.setattr(native_calls, "_known_threads", {})
    token = script_ops._py_funcs.insert(lambda value: 2 * value)

    assert script_ops._py_funcs(token, "CPU:0", [21]) == 42
    setup.probe.native_calls.finish()
    assert len(setup.stream().stretches) == 1


def test_a_keras_of_the_old_kind_is_not_traced(probed: Callable[..., Any]) -> None:
    """It runs in sessions."""
    setup, keras = probed("tensorflow"), fake_keras()
    keras.is_classic = True
    setup.engine.under_keras(keras)

    assert not setup.windows.is_set


def test_gpus_are_waited_for(probed: Callable[..., Any]) -> None:
    """Functions on a CPU are over when they return."""
    setup = probed("tensorflow")
    import tensorflow as tf

    tracer = setup.engine.make_tracer()
    tracer.drain()
    tf.config.state["gpus"] = ["GPU:0"]
    tracer.drain()

    assert tf.test.experimental.synchronised == [True]


def test_switches_are_told_while_they_are_set(probed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the environment, too."""
    setup = probed("tensorflow")
    import tensorflow as tf

    tf.debugging.enable_check_numerics()
    tf.config.experimental.enable_op_determinism()
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")

    assert facts.flags(setup.probe.engines) == {
        "tf.debugging.enable_check_numerics": True,
        "tf.config.experimental.enable_op_determinism": True,
        "TF_ENABLE_ONEDNN_OPTS=0": True,
    }


def test_settings_of_a_trial_hold_whatever_the_script_sets(probed: Callable[..., Any]) -> None:
    """Threads, switches, and the tuning of pipelines."""
    setup = probed("tensorflow")
    import tensorflow as tf
    from tensorflow.python.data.ops import dataset_ops

    flags = ["tf.debugging.enable_check_numerics", "tf.config.experimental.enable_op_determinism"]
    setup.engine.apply(tf, {"threads": 1, "autotune": False, "flags_off": flags})
    tf.config.threading.set_intra_op_parallelism_threads(8)
    tf.debugging.enable_check_numerics()
    tf.config.experimental.enable_op_determinism()
    list(tf.data.Dataset([1]))

    assert tf.config.threading.get_intra_op_parallelism_threads() == 1
    assert facts.flags(setup.probe.engines) == {}
    assert dataset_ops.last == [False]


SEVERAL = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'


@pytest.mark.parametrize(
    ("config", "several"),
    [(SEVERAL, True), ('{"cluster": {"worker": ["a:1"]}}', False), (None, False), ("[", False), ("[]", False)],
)
def test_tasks_of_a_cluster_are_counted(config: str | None, several: bool) -> None:
    """What makes no sense is none."""
    assert is_one_of_several(config) is several


def test_the_profiler_is_left_off_in_one_of_several_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said why there are no kernels."""
    said: list[str] = []
    windows = SimpleNamespace(decline=said.append, use=lambda *_: said.append("used"))
    engine = TensorFlow(SimpleNamespace(windows=windows))
    monkeypatch.setenv("TF_CONFIG", SEVERAL)
    engine.take_windows()
    monkeypatch.delenv("TF_CONFIG")
    engine.take_windows()
    assert said == ["TensorFlow's profiler is not started in one of several workers (TF_CONFIG)", "used"]


def test_its_gpus_count_memory_and_its_cpu_does_not() -> None:
    """All of them together."""
    infos = {"GPU:0": {"current": 10, "peak": 300}, "GPU:1": {"current": 20, "peak": 400}}

    def module(*names: str) -> Any:
        devices = [SimpleNamespace(name=name) for name in names]
        experimental = SimpleNamespace(get_memory_info=lambda name: infos[name])
        return SimpleNamespace(
            config=SimpleNamespace(list_logical_devices=lambda _kind: devices, experimental=experimental)
        )

    assert TensorFlow.allocated(NOBODY, module()) is None
    assert TensorFlow.allocated(NOBODY, module("GPU:0", "GPU:1")) == {"live_bytes": 30, "peak_bytes": 700}
