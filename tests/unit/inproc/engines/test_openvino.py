"""Which nodes of OpenVINO's graph belong to which layer, and what is counted in a window."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.contracts.engine_exercise import fake_keras
from tests.contracts.engine_programs import PROGRAMS


def test_nodes_belong_to_the_layer_whose_call_made_them(probed: Callable[..., Any]) -> None:
    """Inputs of the model are no layer's."""
    setup, keras = probed("openvino"), fake_keras()
    from openvino import opset13 as operators

    setup.engine.under_keras(keras)
    value = operators.parameter([2], np.float32, "value")
    result = operators.multiply(value, operators.constant([3.0], np.float32))
    keras.layer()(SimpleNamespace(output=result))

    assert setup.engine._models.owner == {"Multiply_1": "dense", "Constant_0": "dense"}


def test_a_trace_has_the_times_of_nodes_of_each_call(
    probed: Callable[..., Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those that ran at all, with begin and end of the call."""
    setup, keras = probed("openvino"), fake_keras()
    setup.engine.under_keras(keras)
    setup.engine._models.owner.update(Multiply_1="dense", Relu_5="other")
    call = PROGRAMS["openvino"]().compiling()
    call(2)
    tracer = setup.engine.make_tracer()
    monkeypatch.setattr("dlprof_probes.inproc.engines.openvino.now", iter([10, 25]).__next__)

    tracer.start(str(tmp_path))
    call(2)
    tracer.stop()

    assert json.loads((tmp_path / "nodes.json").read_text()) == {
        "format": "dlprof.openvino/1",
        "owner": {"Multiply_1": "dense"},
        "calls": [[10, 25, [["Multiply_1", "Multiply", "jit_avx2_f32", 7000]]]],
    }


def test_what_others_than_keras_compile_is_left_alone(probed: Callable[..., Any]) -> None:
    """They get the engine's own object."""
    setup = probed("openvino")
    import openvino

    value = openvino.opset13.parameter([2], np.float32, "value")

    assert type(openvino.compile_model(openvino.Model([value], [value]), "CPU", {})) is openvino.CompiledModel
    assert setup.engine.version(openvino) == "2025.1.0"


def test_a_stand_in_has_what_the_compiled_model_has(probed: Callable[..., Any]) -> None:
    """All but calling goes to the real one."""
    setup = probed("openvino")
    import openvino

    original = lambda *_args: SimpleNamespace(inputs=["value"])  # noqa: E731
    compile_model = setup.engine._models.compiling(original)
    made = eval("compile_model(None)", {"compile_model": compile_model, "__name__": "keras.src"})  # noqa: S307

    assert made.inputs == ["value"]
    assert openvino.__name__ == "openvino"


def test_a_script_without_keras_has_no_windows(probed: Callable[..., Any]) -> None:
    """Its models are not counted."""
    setup = probed("openvino")
    setup.engine.alone()

    assert not setup.windows.is_set
