"""Constants of graphs, as the engines' objects tell them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.engines import graph_constants
from dlprof_probes.inproc.engines.graph_constants import GraphConstants

from tests.unit.inproc.engines.telling import Told

MIB = 1 << 20


@pytest.fixture
def told() -> Told:
    """What the probe was told."""
    return Told()


@pytest.fixture
def constants(told: Told) -> GraphConstants:
    """Looks at graphs of a user whose files are below /home."""
    return GraphConstants(SimpleNamespace(recorder=told, is_user_file=lambda file: file.startswith("/home")))


def jaxpr(value: Any) -> Any:
    """A `ClosedJaxpr` with a constant that the second of two operations uses."""
    variable = object()
    frames = [SimpleNamespace(file_name=name, line_num=line) for name, line in (("/lib/jax.py", 9), ("/home/t.py", 12))]
    trace = SimpleNamespace(frames=frames)
    used = SimpleNamespace(invars=[object(), variable], source_info=SimpleNamespace(traceback=trace))
    other = SimpleNamespace(invars=[object()], source_info=SimpleNamespace(traceback=None))
    return SimpleNamespace(consts=[value], jaxpr=SimpleNamespace(constvars=[variable], eqns=[other, used]))


def graph(*nodes: Any) -> Any:
    """A graph of TensorFlow."""
    return SimpleNamespace(name="step", get_operations=lambda: nodes)


def node(kind: str, shape: tuple[int, ...]) -> Any:
    """A node of 32-bit floats that line 12 of the user's made."""
    output = SimpleNamespace(
        shape=SimpleNamespace(num_elements=lambda: int(np.prod(shape)), as_list=lambda: list(shape)),
        dtype=SimpleNamespace(size=4, name="float32"),
    )
    trace = [SimpleNamespace(filename=name, lineno=line) for name, line in (("/home/t.py", 12), ("/lib/tf.py", 9))]
    return SimpleNamespace(type=kind, outputs=[output], traceback=trace)


def step() -> None:
    """A function that is traced."""


def test_an_array_that_a_function_of_jax_closes_over(constants: GraphConstants, told: Told) -> None:
    """With the innermost line of the user's that uses it."""
    constants.of_jax(step, jaxpr(np.zeros((512, 1024), "float32")))

    assert told.spans == [("graph_constant", "float32[512x1024]", ("/home/t.py", 12))]
    assert told.details == [{"constant": {"function": "step", "bytes": 2 * MIB}}]


def test_a_constant_node_of_tensorflow(constants: GraphConstants, told: Told) -> None:
    """Not its variables, and no small one."""
    constants.of_tensorflow(graph(node("Const", (512, 1024)), node("Placeholder", (512, 1024)), node("Const", (9,))))

    assert told.spans == [("graph_constant", "float32[512x1024]", ("/home/t.py", 12))]
    assert told.details == [{"constant": {"function": "step", "bytes": 2 * MIB}}]


@pytest.mark.parametrize("value", [np.zeros(8), object(), np.float32(1)])
def test_what_is_small_or_no_array_is_not_told(constants: GraphConstants, told: Told, value: Any) -> None:
    """Scalars are constants of every graph."""
    constants.of_jax(step, jaxpr(value))

    assert told.spans == []


def test_a_version_that_tells_no_constants_is_left_alone(constants: GraphConstants, told: Told) -> None:
    """Nothing is told then."""
    constants.of_jax(step, None)

    assert told.spans == []


def test_of_very_many_not_all_are_told(constants: GraphConstants, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script may trace without end."""
    monkeypatch.setattr(graph_constants, "_MOST", 3)
    for _ in range(5):
        constants.of_jax(step, jaxpr(np.zeros(MIB, "float32")))

    assert len(told.spans) == 3


def test_what_a_function_of_the_script_closes_over_is_told(probed: Callable[..., Any]) -> None:
    """When it is traced; what JAX's own functions hold is not looked at."""
    setup = probed("jax")
    import jax

    table = np.zeros((512, 1024), "float32")

    def looked_up(value: Any) -> Any:
        return table[:2] * value[0]

    def of_jax(value: Any) -> Any:
        return table[:2] * value[0]

    of_jax.__module__ = "jax.numpy"
    jax.jit(looked_up)(np.ones(2))
    jax.jit(of_jax)(np.ones(2))

    told = [span for span in setup.stream().spans.values() if span.kind == "graph_constant"]
    assert [(span.name, span.detail["constant"]["function"]) for span in told] == [("float32[512x1024]", "looked_up")]
