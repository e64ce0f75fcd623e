"""Updates that torch.compile made part of a graph."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_updates
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


class Optimizer:
    """With two groups of parameters."""

    param_groups = ("weights", "biases")


class OutputGraph:
    """What is compiled is what the test gives."""

    def call_user_compiler(self, function: Any) -> Any:
        """The compiler."""
        return function


class OptimizerVariable:
    """An optimiser while it is traced."""

    def __init__(self, value: object) -> None:
        self.value = value

    def call_method(self, translator: object, name: str) -> None:
        """Becomes part of the graph."""


class Compiler:
    """The compiler of one graph, whose updates are noted."""

    def __init__(self, probe: Probe, monkeypatch: pytest.MonkeyPatch, *, sees_graphs: bool = True) -> None:
        self.told: list[object] = []
        monkeypatch.setattr(probe.own_loops, "update", lambda _engine, optimizer, _begin: self.told.append(optimizer))
        updates = torch_updates.CompiledUpdates(SimpleNamespace(probe=probe))
        if sees_graphs:
            updates.watch_graphs(SimpleNamespace(OutputGraph=OutputGraph))
        module: Any = ModuleType("torch._dynamo.variables.optimizer")
        module.OptimizerVariable = OptimizerVariable
        updates.attachment().attach(module)
        self.graph = OutputGraph()

    def traces(self, *optimizers: Optimizer, method: str = "_init_group", groups: int = 2) -> None:
        """Steps of optimisers become part of the graph."""
        for optimizer in optimizers:
            for _ in range(groups):
                OptimizerVariable(optimizer).call_method(SimpleNamespace(output=self.graph), method)


def test_each_call_of_a_graph_that_holds_an_update_is_one(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its result is what it was; each optimiser counts once, however many groups it has."""
    compiler, first, second = Compiler(probe, monkeypatch), Optimizer(), Optimizer()
    compiler.traces(first, second)
    compiled = compiler.graph.call_user_compiler(lambda x: x + 1)

    assert compiler.told == []
    assert [compiled(1), compiled(2)] == [2, 3]
    assert compiler.told == [first, second, first, second]


def test_other_graphs_are_left_as_they_are(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a model, and those that ask an optimiser for something else."""
    compiler = Compiler(probe, monkeypatch)
    compiler.traces(Optimizer(), method="state_dict")

    assert compiler.graph.call_user_compiler(len) is len


def test_a_graph_that_fails_is_no_update(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception is the program's."""
    compiler, optimizer = Compiler(probe, monkeypatch), Optimizer()
    compiler.traces(optimizer)
    compiled = compiler.graph.call_user_compiler(lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        compiled()
    assert compiler.told == []


def test_a_graph_does_not_keep_an_optimiser(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is gone is not told."""
    compiler, optimizer = Compiler(probe, monkeypatch), Optimizer()
    compiler.traces(optimizer)
    compiled = compiler.graph.call_user_compiler(len)
    del optimizer

    assert compiled("ab") == 2
    assert compiler.told == []


def test_several_updates_in_one_graph_are_said(probe: Probe, out: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told as one."""
    compiler, optimizer = Compiler(probe, monkeypatch), Optimizer()
    compiler.traces(optimizer, groups=6)
    compiler.graph.call_user_compiler(len)("ab")

    assert (compiler.told, [slug for slug, _ in out.notes()]) == ([optimizer], ["update-compiled"])


def test_where_graphs_are_not_seen_that_is_said(probe: Probe, out: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once."""
    compiler = Compiler(probe, monkeypatch, sees_graphs=False)
    compiler.traces(Optimizer(), Optimizer())

    assert [slug for slug, _ in out.notes()] == ["update-compiled"]
