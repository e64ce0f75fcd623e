"""Which engine a name, a version or a Keras means."""

from __future__ import annotations

import pytest

from dlprof.engines import registry
from dlprof.engines.base import Dispatch


def test_engines_are_known_by_name() -> None:
    """TensorFlow's two lives are two engines."""
    specs = registry.all_specs()

    assert {name for name, spec in specs.items() if spec.module == "tensorflow"} == {"tensorflow", "tensorflow1"}
    assert all(name == spec.name for name, spec in specs.items())


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("tensorflow", "1.15.5", "tensorflow1"),
        ("tensorflow", "2.21.0", "tensorflow"),
        ("tensorflow", "2.16.0rc0", "tensorflow"),
        ("tensorflow", None, "tensorflow"),
        ("tensorflow", "of my own", "tensorflow"),
        ("tensorflow1", None, "tensorflow1"),
        ("jax", "0.10", "jax"),
    ],
)
def test_the_version_tells_which_engine_it_is(name: str, version: str | None, expected: str) -> None:
    """A version that is no version says nothing."""
    found = registry.find(name, version)

    assert found is not None
    assert found.name == expected


def test_an_engine_that_nobody_knows_is_none() -> None:
    """A plug-in that is gone, a trace of a maker that dlprof does not know."""
    assert (registry.find("cuda"), registry.find(None), registry.under_keras("mine")) == (None, None, None)


@pytest.mark.parametrize(
    ("backend", "version", "expected"),
    [
        ("tensorflow", "3.15.0", Dispatch(input_inside_step=True)),
        ("tensorflow", "2.3.1", Dispatch()),
        ("tensorflow", None, Dispatch(input_inside_step=True)),
        ("jax", "3.15.0", Dispatch(asynchronous=True)),
        ("mxnet", "2.2.4", Dispatch()),
        ("mine", "3.0", Dispatch()),
    ],
)
def test_how_steps_return_depends_on_keras_too(backend: str, version: str | None, expected: Dispatch) -> None:
    """Keras 2 on TensorFlow 1 waits for its batch where the host sees it."""
    assert registry.dispatch_under_keras(backend, version) == expected


def test_the_same_switch_is_not_two_switches() -> None:
    """A switch is named as the probe names it; the two TensorFlows share theirs."""
    names = [
        switch.name for name, spec in registry.all_specs().items() if name != "tensorflow1" for switch in spec.switches
    ]

    assert len(names) == len(set(names))
