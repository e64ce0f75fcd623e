"""Products in loops of graphs that are the same in each round, as TensorFlow's objects tell them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import loop_invariants
from dlprof_probes.inproc.engines.loop_invariants import LoopInvariants

from tests.unit.inproc.engines.telling import Told


class WhileBodyFuncGraph:
    """What a loop does in each round: it captures what it does not change."""

    def __init__(self, captures: list[Any], *nodes: Any) -> None:
        self.internal_captures = captures
        self._nodes = nodes

    def get_operations(self) -> list[Any]:
        return list(self._nodes)


def tensor(kind: str = "float32") -> Any:
    """A tensor, by its identity."""
    return SimpleNamespace(dtype=SimpleNamespace(name=kind))


def node(kind: str, *inputs: Any, stateful: bool = False, line: int = 12) -> Any:
    """A node with one output that a line of the user's made."""
    trace = [SimpleNamespace(filename=name, lineno=line) for name in ("/home/t.py", "/lib/tf.py")]
    return SimpleNamespace(
        type=kind,
        name=f"while/layer/{kind}",
        inputs=inputs,
        outputs=[tensor()],
        op_def=SimpleNamespace(is_stateful=stateful),
        traceback=trace,
    )


@pytest.fixture
def told() -> Told:
    """What the probe was told."""
    return Told()


@pytest.fixture
def invariants(told: Told) -> LoopInvariants:
    """Looks at graphs of a user whose files are below /home."""
    return LoopInvariants(SimpleNamespace(recorder=told, is_user_file=lambda file: file.startswith("/home")))


def attention(*others: Any) -> WhileBodyFuncGraph:
    """A product of captured values with a captured weight, and one of a state that changes."""
    values, weight, state = tensor(), tensor("resource"), tensor()
    shape, read = node("Const"), node("ReadVariableOp", weight, stateful=True)
    shaped = node("Reshape", values, shape.outputs[0])
    product = node("MatMul", shaped.outputs[0], read.outputs[0])
    of_state = node("MatMul", state, read.outputs[0], line=13)
    written = [node(kind, weight, stateful=True) for kind in others]
    return WhileBodyFuncGraph([values, weight], shape, shaped, read, product, of_state, *written)


def test_a_product_of_what_a_loop_only_reads_is_told_with_its_line(invariants: LoopInvariants, told: Told) -> None:
    """Not that of the state, which each round makes anew."""
    invariants.of_tensorflow(attention())

    assert told.spans == [("repeated_product", "while/layer/MatMul", ("/home/t.py", 12))]


@pytest.mark.parametrize("writes", ["AssignVariableOp", "ResourceApplyAdam", "StatefulPartitionedCall"])
def test_a_weight_that_the_loop_may_write_to_is_not_the_same_in_each_round(
    invariants: LoopInvariants, told: Told, writes: str
) -> None:
    """As in a loop over training steps."""
    invariants.of_tensorflow(attention(writes))

    assert told.spans == []


def test_random_numbers_are_not_the_same_in_each_round(invariants: LoopInvariants, told: Told) -> None:
    """A node with a state of its own."""
    shape = node("Const")
    noise = node("RandomStandardNormal", shape.outputs[0], stateful=True)
    invariants.of_tensorflow(WhileBodyFuncGraph([], shape, noise, node("MatMul", noise.outputs[0], noise.outputs[0])))

    assert told.spans == []


def test_a_graph_that_is_no_body_of_a_loop_is_not_looked_at(invariants: LoopInvariants, told: Told) -> None:
    """Its inputs change from call to call."""
    graph = attention()
    invariants.of_tensorflow(
        SimpleNamespace(internal_captures=graph.internal_captures, get_operations=graph.get_operations)
    )

    assert told.spans == []


def test_of_very_many_not_all_are_told(invariants: LoopInvariants, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script may trace without end."""
    monkeypatch.setattr(loop_invariants, "_MOST", 3)
    for _ in range(5):
        invariants.of_tensorflow(attention())

    assert len(told.spans) == 3
