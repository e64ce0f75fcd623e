"""A benchmark spread over the nodes of a cluster: what stands in for Ray does what it is asked for at once."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlprof.bench import matrix, on_ray, running
from dlprof.bench.on_ray import Done, Order
from dlprof.bench.results import CellResult, Folder
from dlprof.errors import UnavailableError
from tests.unit.bench.matrices import GOOD, Runs, silent, written


class RayError(Exception):
    """What Ray raises where a node is gone."""


class RayTaskError(RayError):
    """What it raises where a task raised something."""


class Ray(types.ModuleType):
    """A cluster whose nodes answer when they are waited for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nodes: int = 2) -> None:
        super().__init__("ray")
        self.exceptions = types.SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
        self.alive = [f"node{number}" for number in range(nodes)]
        self.most_at_once = self.orders = 0
        self.dying: list[int] = []
        """Numbers of runs whose node is lost, once each."""
        self.unfit: set[str] = set()
        """Nodes on which no task can begin."""
        self.cores = 4.0
        self.is_over = False
        strategies = types.ModuleType("ray.util.scheduling_strategies")
        strategies.NodeAffinitySchedulingStrategy = types.SimpleNamespace  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "ray", self)
        monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
        monkeypatch.setattr(on_ray, "_PAUSE_S", 0.0)
        monkeypatch.setattr(on_ray, "_JOIN_S", 0.0)

    def init(self, **_: Any) -> None:
        """Find the cluster."""

    def shutdown(self) -> None:
        """Leave it; a node was dead, as Ray says in words of its own."""
        print("(raylet) The node has been marked dead")
        self.is_over = True

    def nodes(self) -> list[dict[str, Any]]:
        """All nodes, one of them lost long ago, and a head without cores."""
        gone, head = {"NodeID": "gone", "Alive": False}, {"NodeID": "head", "Alive": True, "Resources": {"memory": 1.0}}
        rest = [{"NodeID": name, "Alive": True, "Resources": {"CPU": self.cores}} for name in self.alive]
        return [gone, *([head] if rest else []), *rest]

    def remote(self, function: Callable[[Order], Done]) -> Any:
        """A function as a task; its answer waits in what it gives."""

        def options(*, num_cpus: float, max_retries: int, scheduling_strategy: Any) -> Any:
            assert (num_cpus, max_retries, scheduling_strategy.soft) == (4.0, 0, False)
            node = scheduling_strategy.node_id
            assert node in self.alive

            def begun(order: Order) -> tuple[Callable[[Order], Done], Order]:
                self.orders += 1
                return (self.refuse if node in self.unfit else function), order

            return types.SimpleNamespace(remote=begun)

        return types.SimpleNamespace(options=options)

    def refuse(self, _order: Order) -> Done:
        """A task on a node that lacks something."""
        raise RayTaskError("Traceback (most recent call last):\n  ...\nModuleNotFoundError: No module named 'dlprof'")

    def wait(self, waiting: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        """The first is done."""
        assert timeout > 0
        self.most_at_once = max(self.most_at_once, len(waiting))
        return waiting[:1], waiting[1:]

    def get(self, one: tuple[Callable[[Order], Done], Order]) -> Done:
        """Its answer."""
        function, order = one
        if order.number in self.dying:
            self.dying.remove(order.number)
            raise RayError("The node died")
        return function(order)

    def cancel(self, one: Any, *, force: bool) -> None:
        """End it."""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, matrix.Matrix, Folder, Ray, Runs]:
    """A matrix of eight runs, a cluster of two nodes, and what stands in for the runs."""
    path = written(tmp_path, GOOD)
    monkeypatch.setenv("OMP_NUM_THREADS", "16")  # as Ray does for a task of so many cores
    return path, matrix.load(path), Folder(tmp_path / "out"), Ray(monkeypatch), Runs(monkeypatch)


def test_each_run_is_made_once_and_one_at_a_time_on_a_node(asked: tuple[Any, ...]) -> None:
    """A lost node was not asked; what is over is not asked for again."""
    path, found, folder, ray, runs = asked

    results = on_ray.run(path, found, folder, None, silent)

    assert sorted(runs.names) == sorted(cell.name for cell in found.cells())
    assert (len(results), ray.most_at_once, ray.is_over) == (8, 2, True)
    on_ray.run(path, found, folder, None, silent)
    assert ray.orders == 8


def test_the_own_words_of_ray_are_not_on_standard_output(
    asked: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is, and may be JSON."""
    path, found, folder, _, _ = asked
    on_ray.run(path, found, folder, None, silent)

    assert capsys.readouterr() == ("", "(raylet) The node has been marked dead\n")


def test_a_run_whose_node_is_lost_is_made_on_another(asked: tuple[Any, ...]) -> None:
    """Where that happens again and again it has failed."""
    path, found, folder, ray, runs = asked
    ray.dying = [2, 5, 5, 5]
    results = on_ray.run(path, found, folder, None, silent)
    cells = found.cells()
    failed = {(one.work, one.backend, one.number): one.error for one in results if one.error}
    lost = cells[4]
    why = "its node was lost, 3 times: The node died"
    assert failed == {(lost.work.name, lost.backend, lost.number): why}
    assert cells[1].name in runs.names


def test_a_node_that_cannot_make_a_run_is_left_out(asked: tuple[Any, ...]) -> None:
    """All runs are made on the other one; where there is no other, the reason is the error."""
    path, found, folder, ray, runs = asked
    ray.unfit = {"node0"}
    results = on_ray.run(path, found, folder, None, silent)
    assert ([one.error for one in results if one.error], len(runs.names), ray.orders) == ([], 8, 9)
    ray.unfit = {"node0", "node1"}
    with pytest.raises(
        UnavailableError, match="No node .* can make a run: ModuleNotFoundError: No module named 'dlprof'"
    ):
        on_ray.run(path, found, Folder(folder.path.parent / "again"), None, silent)


def test_a_cluster_without_cores_for_tasks_is_refused(asked: tuple[Any, ...]) -> None:
    """As one whose head is all of it."""
    path, found, folder, ray, _ = asked
    ray.cores = 0.0
    with pytest.raises(UnavailableError, match="none of its nodes has cores for tasks"):
        on_ray.run(path, found, folder, None, silent)


def test_without_nodes_it_ends_and_can_go_on(asked: tuple[Any, ...]) -> None:
    """With a way out."""
    path, found, folder, ray, _ = asked
    ray.alive = []
    with pytest.raises(UnavailableError, match="All nodes of the cluster were lost") as error:
        on_ray.run(path, found, folder, None, silent)
    assert error.value.hint == "the same command goes on where it was"
    assert ray.is_over


def test_without_ray_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "ray", None)
    path = written(tmp_path, GOOD)
    with pytest.raises(UnavailableError, match="Ray is not installed") as error:
        on_ray.run(path, matrix.load(path), Folder(tmp_path / "out"), None, silent)
    assert error.value.hint == "pip install 'dlprof[ray]'"


def test_what_a_run_left_comes_back_under_names_that_cannot_lead_out(
    asked: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run folder and its output; links and names of other places are passed over."""
    path, found, folder, _, _ = asked

    def leave(cell: matrix.Cell, _matrix: matrix.Matrix, there: Folder) -> CellResult:
        (there.run(cell) / "raw").mkdir(parents=True)
        (there.run(cell) / "raw" / "x").write_text("1")
        (there.run(cell) / "link").symlink_to("/etc/passwd")
        there.output(cell).write_text("printed")
        return CellResult(work=cell.work.name, backend=cell.backend, number=cell.number)

    monkeypatch.setattr(running, "run_cell", leave)
    done = on_ray.there(Order(str(path), found.digest, found.repeat, 1))
    with tarfile.open(fileobj=io.BytesIO(done.packed)) as tar:
        assert any(member.issym() for member in tar)

    on_ray.run(path, found, folder, None, silent)

    cell = found.cells()[0]
    assert (folder.run(cell) / "raw" / "x").read_text() == "1"
    assert folder.output(cell).read_text() == "printed"
    assert not (folder.run(cell) / "link").is_symlink()


def test_a_node_with_another_matrix_does_not_run_it(asked: tuple[Any, ...]) -> None:
    """Its figures would be of something else."""
    path, found, _, _, runs = asked
    done = on_ray.there(Order(str(path), "0" * 16, found.repeat, 1))
    assert (done.result, done.why) == (None, f"{path} says something else on this node.")
    assert runs.names == []


def test_threads_are_those_of_where_the_command_was_given(
    asked: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a run would have other threads on a node of Ray than without Ray."""
    path, found, _, _, _ = asked
    seen = []

    def run(cell: matrix.Cell, *_: Any) -> CellResult:
        seen.append(os.environ.get("OMP_NUM_THREADS"))
        return CellResult(work=cell.work.name, backend=cell.backend, number=cell.number)

    monkeypatch.setattr(running, "run_cell", run)
    on_ray.there(Order(str(path), found.digest, found.repeat, 1))
    on_ray.there(Order(str(path), found.digest, found.repeat, 1, "2"))
    assert seen == [None, "2"]
