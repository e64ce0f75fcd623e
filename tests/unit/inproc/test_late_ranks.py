"""Workers that make themselves ranks: the probes begin right before."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dlprof_probes.inproc import late_ranks

from dlprof.pipeline import followed

TORCH = late_ranks.MAKERS["torch.distributed.distributed_c10d"]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What makes ranks, in the two modules that programs take it from."""
    made, package = ModuleType("torch.distributed.distributed_c10d"), ModuleType("torch.distributed")
    made.calls = []  # type: ignore[attr-defined]

    def init_process_group(*args: Any, **named: Any) -> str:
        made.calls.append(("made", args, named))
        return "group"

    for module in (made, package):
        module.init_process_group = init_process_group  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return made


def test_the_probes_begin_before_the_first_group_is_made(torch: ModuleType) -> None:
    """Once; both modules have what they had then."""
    package, original = sys.modules["torch.distributed"], torch.init_process_group
    TORCH.wait(torch, lambda: torch.calls.append("begun"))

    assert package.init_process_group("gloo", rank=1) == "group"
    assert package.init_process_group("gloo") == "group"

    assert torch.calls == ["begun", ("made", ("gloo",), {"rank": 1}), ("made", ("gloo",), {})]
    assert torch.init_process_group is package.init_process_group is original


def test_who_took_it_before_that_begins_them_once_too(torch: ModuleType) -> None:
    """`from torch.distributed import init_process_group`, of which a second group is made."""
    TORCH.wait(torch, lambda: torch.calls.append("begun"))
    taken = torch.init_process_group
    taken("gloo")
    taken("gloo")
    assert torch.calls.count("begun") == 1


def test_probes_that_cannot_begin_are_no_affair_of_the_programs(torch: ModuleType) -> None:
    """The group is made all the same."""

    def fails() -> None:
        raise OSError("no space")

    TORCH.wait(torch, fails)
    assert torch.init_process_group("gloo") == "group"


def test_a_class_that_makes_ranks_has_what_the_probes_put_there() -> None:
    """JAX: `jax.distributed.initialize` calls a method, which the probe of JAX replaces when it begins."""
    module, calls, state = ModuleType("jax._src.distributed"), [], type("State", (), {})
    state.initialize = lambda _self, address: calls.append(address)  # type: ignore[attr-defined]
    module.State = state  # type: ignore[attr-defined]

    def begin() -> None:
        calls.append("begun")
        state.initialize = lambda _self, address: calls.append(f"told of {address}")  # type: ignore[attr-defined]

    late_ranks.MAKERS["jax._src.distributed"].wait(module, begin)
    state().initialize("host:1")
    assert calls == ["begun", "told of host:1"]


@pytest.mark.parametrize(("cluster", "begun"), [("{}", 1), (None, 0)])
def test_a_strategy_makes_ranks_where_a_cluster_is_told(
    monkeypatch: pytest.MonkeyPatch, cluster: str | None, begun: int
) -> None:
    """TensorFlow: without TF_CONFIG it is one process."""
    module, calls = ModuleType("tensorflow.python.distribute.collective_all_reduce_strategy"), []
    strategy = type("CollectiveAllReduceStrategy", (), {"__init__": lambda _self: calls.append("made")})
    module.CollectiveAllReduceStrategy = strategy  # type: ignore[attr-defined]
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if cluster is not None:
        monkeypatch.setenv("TF_CONFIG", cluster)
    late_ranks.MAKERS[module.__name__].wait(module, lambda: calls.append("begun"))
    strategy()
    assert (calls.count("begun"), calls[-1]) == (begun, "made")


def test_workers_wait_for_the_very_modules_that_make_ranks() -> None:
    """The file that waits in each worker loads nothing of ours before: it has a list of its own."""
    source = Path(late_ranks.__file__).parent / "entry" / "below" / "sitecustomize.py"
    assigned = [node for node in ast.parse(source.read_text("utf-8")).body if isinstance(node, ast.Assign)]
    (listed,) = [one.value for one in assigned if ast.unparse(one.targets[0]) == "_RANKS"]
    assert ast.literal_eval(listed) == tuple(late_ranks.MAKERS)


def test_what_makes_ranks_has_a_name_for_people() -> None:
    """For each engine."""
    assert set(followed._MAKES_RANKS) == {maker.engine for maker in late_ranks.MAKERS.values()}


def test_an_engine_that_makes_ranks_otherwise_is_left_alone() -> None:
    """Another version of JAX has no such class."""
    late_ranks.MAKERS["jax._src.distributed"].wait(ModuleType("jax._src.distributed"), pytest.fail)


def test_a_forked_child_without_torch_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to wait for."""
    monkeypatch.delitem(sys.modules, "torch.distributed.distributed_c10d", raising=False)
    late_ranks.ForkedRanks(None, lambda: pytest.fail("the probe was ended"), pytest.fail).forked()
