"""What the engines' specs say together."""

from __future__ import annotations

from dlprof.engines import combined


def test_switches_of_all_engines_are_known_by_name() -> None:
    """A script may have loaded several engines."""
    switch = combined.switches()["MXNET_ENGINE_TYPE=NaiveEngine"]

    assert (switch.cost, dict(switch.environment)) == (0.15, {"MXNET_ENGINE_TYPE": None})


def test_packages_of_all_engines_are_known() -> None:
    """JAX has two."""
    assert {"jax", "jaxlib", "torch", "openvino"} <= combined.packages()


def test_operators_that_call_python_are_those_of_all_engines() -> None:
    """TensorFlow's, MXNet's and JAX's."""
    assert {"EagerPyFunc", "Custom", "pure_callback"} <= combined.python_operators()
