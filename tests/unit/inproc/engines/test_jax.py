"""What JAX's monitoring tells, and what Keras on it waits for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc import native_calls
from dlprof_probes.inproc.engines.jax import Jax, JaxTracer, _by_root

from tests.contracts.engine_exercise import fake_keras

UNTRAINED: Any = SimpleNamespace(_trained=set())
"""Nothing was compiled in a training."""


def operator(value: Any) -> Any:
    """What JAX compiles by itself."""
    return value


operator.__module__ = "jax.numpy"


def test_operators_that_are_compiled_outside_of_loops_are_told_as_such(probed: Callable[..., Any]) -> None:
    """Each is compiled for itself; tracing one takes next to nothing, and is not told."""
    setup = probed("jax")
    import jax

    jax.jit(operator)(np.ones(2))

    told = {"function": "operator", "operator": True}
    assert setup.probe.loops.compiles == [1]
    assert [(span.kind, span.name, span.detail) for span in setup.stream().spans.values()] == [
        ("graph_stage", "lower operator", {"graph": {"stage": "lower", **told}}),
        ("graph_compile", "compile jit(operator)", {"graph": {"stage": "compile", **told}}),
    ]


def test_an_operator_for_another_shape_was_not_compiled_again(probed: Callable[..., Any]) -> None:
    """It is no function of the script's that was traced for other arguments."""
    setup = probed("jax")
    import jax

    compiled = jax.jit(operator)
    compiled(np.ones(2))
    compiled(np.ones(3))

    spans = [span for span in setup.stream().spans.values() if span.kind == "graph_compile"]
    assert ["compiled" in span.detail for span in spans] == [False, False]


def test_operators_that_are_compiled_in_a_loop_are_told_as_functions(probed: Callable[..., Any]) -> None:
    """With what they were traced for: there the step waits for them."""
    setup = probed("jax")
    import jax

    loop = setup.open()
    jax.jit(operator)(np.ones(2))
    setup.close(loop)

    spans = [span for span in setup.stream().spans.values() if span.kind == "graph_compile"]
    assert [span.detail["graph"] for span in spans] == [{"stage": "compile", "function": "operator"}]
    assert spans[0].detail["compiled"]["again"] is False


def test_operators_beyond_a_bound_are_counted_and_no_spans(
    probed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note says so, once."""
    monkeypatch.setattr("dlprof_probes.inproc.engines.jax._MOST_OPERATORS", 2)
    setup = probed("jax")
    import jax

    for length in range(1, 6):
        jax.jit(operator)(np.ones(length))

    assert setup.probe.loops.compiles == [5]
    stream = setup.stream()
    assert [span.kind for span in stream.spans.values()] == ["graph_stage", "graph_compile"] * 2
    assert [note.slug for note in stream.notes] == ["operators-left-out"]


def test_a_compilation_without_a_name_outside_of_loops_is_counted_and_no_span(probed: Callable[..., Any]) -> None:
    """Whose it is cannot be told."""
    setup = probed("jax")
    import jax

    jax.monitoring.tell("/jax/core/compile/backend_compile_duration", 0.5)

    assert setup.probe.loops.compiles == [1]
    assert list(setup.stream().spans.values()) == []


def test_functions_of_the_script_itself_are_spans_outside_of_loops(probed: Callable[..., Any]) -> None:
    """It has compiled them by name."""
    setup = probed("jax")
    import jax

    jax.jit(lambda value: value)(np.ones(2))

    assert [(span.kind, span.name) for span in setup.stream().spans.values()] == [
        ("graph_stage", "trace <lambda>"),
        ("graph_stage", "lower <lambda>"),
        ("graph_compile", "compile jit(<lambda>)"),
    ]


def test_what_comes_before_a_compilation_is_told_by_function(probed: Callable[..., Any]) -> None:
    """Under the name that it has in Python, as the compilation itself."""
    setup = probed("jax")
    import jax

    def doubled(value: Any) -> Any:
        return value * 2

    jax.jit(doubled)(np.ones(2))

    spans = setup.stream().spans.values()
    assert [(span.detail["graph"], (span.end or 0) - span.start) for span in spans] == [
        ({"stage": "trace", "function": "doubled"}, 1_000_000),
        ({"stage": "lower", "function": "doubled"}, 500_000),
        ({"stage": "compile", "function": "doubled"}, 2_000_000),
    ]


def test_a_compilation_is_told_with_what_was_traced_for_it(probed: Callable[..., Any]) -> None:
    """The types of its arguments, by name."""
    setup = probed("jax")
    import jax

    def doubled(value: Any) -> Any:
        return value * 2

    compiled, loop = jax.jit(doubled), setup.open()
    compiled(np.ones(2))
    compiled(np.ones(3))
    setup.close(loop)

    told = [span.detail["compiled"] for span in setup.stream().spans.values() if span.kind == "graph_compile"]
    assert told[0] == {"function": "doubled", "again": False, "cause": [], "arguments": {"value": "float32[2]"}}
    change = {"argument": "value", "what": "shape", "before": "float32[2]", "now": "float32[3]"}
    assert told[1]["cause"] == [change]


def test_of_a_tree_of_arguments_the_first_leaves_are_told() -> None:
    """A model may have thousands, and what comes behind it is the batch."""
    model = {"params['layer%d']['w']" % number: "float32[8,8]" for number in range(500)}
    assert _by_root({**model, "state.step": "int32[]", "rows": "float32[64,8]"}) == {
        "params['layer0']['w']": "float32[8,8]",
        "params['layer1']['w']": "float32[8,8]",
        "state.step": "int32[]",
        "rows": "float32[64,8]",
    }


def test_what_jax_compiled_by_itself_has_no_cause(probed: Callable[..., Any]) -> None:
    """It was not traced for `jit`."""
    setup = probed("jax")
    import jax

    loop = setup.open()
    jax.monitoring.tell("/jax/core/compile/backend_compile_duration", 0.5)
    setup.close(loop)

    spans = [span for span in setup.stream().spans.values() if span.kind == "graph_compile"]
    assert [(span.name, span.detail) for span in spans] == [("compile", {})]


@pytest.mark.parametrize("in_loop", [True, False])
def test_what_took_longer_by_the_wall_clock_began_in_what_is_around_it(
    probed: Callable[..., Any], in_loop: bool
) -> None:
    """That clock may be set meanwhile: a loop in which a function is traced first of all is around all of that."""
    setup = probed("jax")
    import jax

    span = setup.probe.recorder.begin("construct", "construct")
    loop = setup.open() if in_loop else None
    jax.monitoring.tell("/jax/core/compile/backend_compile_duration", 0.5)
    if loop is not None:
        setup.close(loop)
    setup.probe.recorder.end(span)

    spans = {span.kind: span for span in setup.stream().spans.values()}
    around = spans["fit"] if in_loop else spans["construct"]
    assert around.start <= spans["graph_compile"].start <= (spans["graph_compile"].end or 0) <= (around.end or 0)


def test_after_the_probe_nothing_listens(probed: Callable[..., Any]) -> None:
    """Where JAX lets a listener go."""
    setup = probed("jax")
    import jax

    setup.end()

    assert jax.monitoring._listeners == []


def test_arrays_that_are_alive_are_waited_for(probed: Callable[..., Any]) -> None:
    """Those that were given up are not."""
    probed("jax")
    import jax

    alive, deleted = jax.Array(np.ones(1)), jax.Array(np.ones(1))
    deleted.deleted = True

    JaxTracer().drain()

    assert (alive.waited, deleted.waited) == (1, 0)


def test_arrays_that_are_alive_are_counted_and_devices_that_count() -> None:
    """A CPU tells nothing of its own."""
    arrays = [
        SimpleNamespace(nbytes=size, is_deleted=lambda gone=gone: gone) for size, gone in ((40, False), (99, True))
    ]
    of_cpu = SimpleNamespace(memory_stats=lambda: None)
    of_gpu = SimpleNamespace(memory_stats=lambda: {"peak_bytes_in_use": 700})

    def module(*devices: Any) -> Any:
        return SimpleNamespace(live_arrays=lambda: arrays, local_devices=lambda: devices)

    assert Jax.allocated(UNTRAINED, module(of_cpu)) == {"live_bytes": 40}
    assert Jax.allocated(UNTRAINED, module(of_gpu, of_gpu)) == {"live_bytes": 40, "peak_bytes": 1400}


@pytest.mark.parametrize(("trained", "told"), [({"train_step"}, 300), (set(), 900)])
def test_temporaries_are_those_of_the_training_steps(trained: set[str], told: int) -> None:
    """By XLA's plan; where no program is known to be one, the most of all. One that tells nothing is passed over."""
    programs = [
        SimpleNamespace(
            hlo_modules=lambda name=name: [SimpleNamespace(name=name)],
            get_compiled_memory_stats=lambda size=size: SimpleNamespace(temp_size_in_bytes=size),
        )
        for name, size in (("jit_train_step", 300), ("jit_prepare", 900), ("jit_train_step", 200))
    ]
    client = SimpleNamespace(live_executables=lambda: [*programs, SimpleNamespace()])
    device = SimpleNamespace(memory_stats=lambda: None, client=client)
    module = SimpleNamespace(live_arrays=list, local_devices=lambda: [device])
    engine: Any = SimpleNamespace(_trained=trained)

    found = Jax.allocated(engine, module)

    assert (found["live_bytes"], found["step_bytes"]) == (0, told)


def test_a_version_without_sessions_is_traced_by_its_public_profiler(
    probed: Callable[..., Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same files."""
    probed("jax")
    import jax
    from jax._src import lib

    monkeypatch.delattr(lib, "_profiler")
    tracer = JaxTracer()
    tracer.start(str(tmp_path))
    running = list(jax.profiler.running)
    files = tracer.stop()

    assert running == [str(tmp_path)]
    assert files == [str(tmp_path / "plugins" / "profile" / "now" / "host.xplane.pb")]


def test_the_batch_that_a_step_of_keras_fetches_is_waiting(
    probed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told before the step, not in the call."""
    setup = probed("jax")

    class JAXEpochIterator:
        def _get_iterator(self) -> Iterator[int]:
            yield 7

    trainer = ModuleType("keras.src.backend.jax.trainer")
    trainer.JAXEpochIterator = JAXEpochIterator  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, trainer.__name__, trainer)
    monkeypatch.setattr("dlprof_probes.inproc.engines.jax.now", iter([10, 25]).__next__)
    setup.engine.under_keras(fake_keras())
    loop = setup.open()
    loop.begin = 1

    batch = next(iter(JAXEpochIterator()._get_iterator()))

    assert (batch, loop.waited) == (7, 15)
    setup.close(loop)


def test_a_switch_that_a_trial_turns_off_stays_off(probed: Callable[..., Any]) -> None:
    """Others are the script's own."""
    setup = probed("jax")
    import jax

    setup.engine.apply(jax, {"flags_off": ["jax_debug_nans", "of another engine"]})
    jax.config.update("jax_debug_nans", True)
    jax.config.update("jax_debug_infs", True)

    assert (jax.config.jax_debug_nans, jax.config.jax_debug_infs) == (False, True)


def test_values_of_arrays_are_waited_for(probed: Callable[..., Any]) -> None:
    """Reading one is; after the probe it is what it was."""
    setup = probed("jax")
    import jax

    array = jax._array.ArrayImpl
    hooked = vars(array)["_value"]

    assert setup.probe.waits.on == [True]
    assert (array()._value, hooked.__doc__) == (7, "The value.")
    setup.end()
    assert vars(array)["_value"] is not hooked
    assert array()._value == 7


def test_functions_that_compiled_ones_call_are_told_on_threads_of_the_engine(
    probed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pure_callback` and its kin go through one function, which is given what is to be called."""
    setup = probed("jax")
    callback = sys.modules["jax._src.callback"]
    monkeypatch.setattr(native_calls, "_known_threads", {})

    assert callback.emit_python_callback(None, lambda value: 2 * value, None, [21])() == 42
    setup.probe.native_calls.finish()
    assert len(setup.stream().stretches) == 1


def test_the_rank_is_told_when_jax_distributed_is_initialised(probed: Callable[..., Any]) -> None:
    """Whatever told it: arguments, variables, the cluster."""
    setup = probed("jax")
    distributed: Any = sys.modules["jax._src.distributed"]

    distributed.State().initialize(num_processes=4, process_id=1)

    assert setup.stream().meta["rank"] == {"rank": 1, "world": 4, "by": "jax.distributed"}
