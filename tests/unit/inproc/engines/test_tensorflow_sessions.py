"""A run of a session is an update where the graph below what it fetches changes weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.tensorflow1 import TensorFlow1
from dlprof_probes.inproc.engines.tensorflow_sessions import SessionUpdates
from dlprof_probes.inproc.probe import Probe


class Graph:
    """Operations by their names."""

    def __init__(self) -> None:
        self.operations: dict[str, Any] = {}

    def add(self, name: str, kind: str, *control: str, inputs: tuple[str, ...] = ()) -> Any:
        """One that comes after others, and takes the results of more."""
        found = self.operations
        one = SimpleNamespace(name=name, type=kind, control_inputs=[found[other] for other in control])
        one.inputs = [SimpleNamespace(op=found[other], name=f"{other}:0") for other in inputs]
        one.get_attr = {"T": SimpleNamespace(name="float64")}.__getitem__
        made = self.operations[name] = _Operation(one)
        return made

    def as_graph_element(self, name: str) -> Any:
        """The operation, or the tensor that it gives."""
        operation = self.operations[name.partition(":")[0]]
        return SimpleNamespace(op=operation, name=name) if ":" in name else operation


class _Operation:
    def __init__(self, facts: Any) -> None:
        self.__dict__.update(vars(facts))


class Own:
    """Notes what is told of updates."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def update(self, _engine: Any, optimizer: Any, _begin: int) -> None:
        """An update."""
        self.told.append(optimizer)


@pytest.fixture
def own() -> Own:
    """Nothing was told yet."""
    return Own()


@pytest.fixture
def graph() -> Graph:
    """A loss, an update by Adam that `minimize` gives as a group, and one of two weights at once."""
    made = Graph()
    made.add("loss", "Mean")
    made.add("apply", "ResourceApplyAdam", inputs=("loss",))
    made.add("train", "NoOp", "apply")
    made.add("sparse", "SparseApplyMomentum", inputs=("loss",))
    made.add("both", "NoOp", "apply", "sparse")
    made.add("count", "AssignAddVariableOp")
    return made


@pytest.fixture
def session(probe: Probe, own: Own, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A session of that graph, which is listened to."""

    class Session:
        def run(self, fetches: Any, feed_dict: Any = None) -> Any:
            """Gives what is asked for."""
            if feed_dict:
                raise ValueError("fed")
            return fetches

    made: Any = Session()
    made.graph = graph
    monkeypatch.setattr(probe, "own_loops", own)
    SessionUpdates(SimpleNamespace(probe=probe)).watch(Session)
    return made


def named(own: Own) -> list[str]:
    """What the updates are called."""
    return [one.dlprof_name for one in own.told]


def test_what_minimize_gives_is_an_update(session: Any, own: Own, graph: Graph) -> None:
    """By itself, in a list with others, in a dict, and by its name."""
    train, loss = graph.operations["train"], SimpleNamespace(name="loss:0")
    for fetches in (train, [loss, train], {"a": (train,)}, "train"):
        session.run(fetches)
    session.run(fetches=train)

    assert named(own) == ["Adam"] * 5
    assert len(set(map(id, own.told))) == 1


def test_a_run_that_changes_no_weights_is_none(session: Any, own: Own, graph: Graph) -> None:
    """A loss; a counter; nothing."""
    changing_none: tuple[Any, ...] = (SimpleNamespace(name="loss:0"), graph.operations["count"], [])
    for fetches in changing_none:
        session.run(fetches)

    assert own.told == []


def test_other_weights_are_another_optimiser(session: Any, own: Own) -> None:
    """As in a GAN."""
    for fetches in ("train", "both", "train", "sparse"):
        session.run(fetches)

    assert named(own) == ["Adam", "Adam", "Adam", "Momentum"]
    assert len(set(map(id, own.told))) == 3


def test_an_update_tells_the_type_of_what_it_changes(probe: Probe, session: Any, own: Own) -> None:
    """How large that is it does not tell."""
    session.run("both")

    assert TensorFlow1(probe).trained_weights(own.told[0]) == {"dtype": "float64"}
    assert TensorFlow1(probe).trained_weights(object()) is None


def test_a_run_that_fails_is_no_update(session: Any, own: Own) -> None:
    """As at the end of the data; its exception is the program's."""
    with pytest.raises(ValueError, match="fed"):
        session.run("train", {"x": 1})

    assert own.told == []
