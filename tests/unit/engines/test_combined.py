"""What all engines say together."""

from __future__ import annotations

import pytest

from dlprof.engines import combined, registry
from dlprof.engines.base import EngineSpec


def test_every_engines_words_are_there() -> None:
    """Those of Keras are not: it is no engine."""
    assert {"PyFunc", "Custom", "io_callback"} <= combined.python_operators()
    assert {"_value", "asnumpy", "item"} <= combined.waiting_functions()
    assert "get_weights" not in combined.waiting_functions()
    assert {"torch/utils/data", "tensorflow/python/data"} <= combined.input_files()
    assert "tensorflow/python/ops/script_ops" in combined.operator_files()


def test_an_engine_of_a_plug_in_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else must know it."""
    toy = EngineSpec(name="toy", title="Toy", module="toy", distributions=("toy",), waiting_functions=("gather",))
    monkeypatch.setattr(registry, "plugged_in", lambda: (toy,))

    assert "gather" in combined.waiting_functions.__wrapped__()


def test_switches_of_all_engines_are_known_by_name() -> None:
    """A script may have loaded several engines."""
    switch = combined.switches()["MXNET_ENGINE_TYPE=NaiveEngine"]

    assert (switch.cost, dict(switch.environment)) == (0.15, {"MXNET_ENGINE_TYPE": None})


def test_packages_of_all_engines_are_known() -> None:
    """JAX has two."""
    assert {"jax", "jaxlib", "torch", "openvino"} <= combined.packages()
