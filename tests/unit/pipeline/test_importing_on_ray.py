"""Traces of many ranks are read by the nodes of a cluster of Ray."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlprof.errors import BadDataError, UnavailableError, UsageError
from dlprof.pipeline import importing_ranks, ranked
from dlprof.pipeline.importing_here import Here
from dlprof.pipeline.importing_on_ray import Done, OnRay, Order
from tests.unit.pipeline.test_importing_ranks import silent, trace, written


class RayError(Exception):
    """What Ray raises where a node was lost."""


class RayTaskError(RayError):
    """What it raises where a task raised something."""


class Ray(types.ModuleType):
    """A cluster whose tasks are done when they are waited for, the last one first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__("ray")
        self.exceptions = types.SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
        self.cores = 2.0
        self.errors: dict[str, Exception] = {}
        """Name of a trace to what its task ends with."""
        self.most_at_once = 0
        self.is_over = False
        monkeypatch.setitem(sys.modules, "ray", self)

    def init(self, **_: Any) -> None:
        """Find the cluster."""

    def shutdown(self) -> None:
        """Leave it; a node was dead, as Ray says in words of its own."""
        print("(raylet) The node has been marked dead")
        self.is_over = True

    def nodes(self) -> list[dict[str, Any]]:
        """One, and one that was lost."""
        return [{"Alive": True, "Resources": {"CPU": self.cores}}, {"Alive": False, "Resources": {"CPU": 99.0}}]

    def remote(self, **_: Any) -> Callable[[Callable[[Order], Done]], Any]:
        """What makes a task of a function."""
        return lambda function: types.SimpleNamespace(remote=lambda order: (function, order))

    def wait(self, waiting: list[Any]) -> tuple[list[Any], list[Any]]:
        """The last is done."""
        self.most_at_once = max(self.most_at_once, len(waiting))
        return waiting[-1:], waiting[:-1]

    def get(self, one: tuple[Callable[[Order], Done], Order]) -> Done:
        """Its answer."""
        function, order = one
        error = self.errors.get(Path(order.path).name)
        if error is not None:
            raise error
        return function(order)

    def cancel(self, one: Any, *, force: bool) -> None:
        """End it."""


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    """A cluster."""
    return Ray(monkeypatch)


def test_nodes_make_what_this_machine_makes(tmp_path: Path, ray: Ray, capsys: pytest.CaptureFixture[str]) -> None:
    """Row for row; a few tasks wait for each core, and what Ray says of its own is not on standard output."""
    folder = written(tmp_path / "in", *(f"{number}.json" for number in range(6)))
    (folder / "notes.txt").write_text("mine")
    tables = []
    for name, by in (("here", Here(1)), ("there", OnRay(None))):
        made = importing_ranks.import_folder(folder, tmp_path / name, reader=None, report=silent, by=by)
        assert (sorted(made.ranks), made.passed_over) == ([0, 1, 2, 3, 4, 5], ["notes.txt"])
        found = ranked.find(str(tmp_path / name))
        assert found is not None
        tables.append([member.run.table("kernel_events").to_pylist() for member in found.members])

    assert tables[0] == tables[1]
    assert (ray.most_at_once, ray.is_over, capsys.readouterr().out) == (4, True, "")


def test_a_trace_whose_node_cannot_read_it_is_refused(tmp_path: Path, ray: Ray) -> None:
    """The others are there."""
    folder = written(tmp_path / "in", "0.json", "1.json", "2.json")
    (folder / "3.json").write_text('{"traceEvents": [')
    ray.errors = {
        "1.json": RayError("The node died"),
        "2.json": RayTaskError("Traceback ...\nModuleNotFoundError: No module named 'dlprof'"),
    }
    made = importing_ranks.import_folder(folder, tmp_path / "out", reader="kineto", report=silent, by=OnRay(None, 1))

    assert (list(made.ranks), ray.most_at_once) == ([0], 1)
    assert made.refused["1.json"] == "its node was lost, 4 times: The node died"
    assert made.refused["2.json"] == "a node could not read it: ModuleNotFoundError: No module named 'dlprof'"
    assert "3.json" in made.refused


def test_a_node_without_the_folder_says_so(tmp_path: Path, ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or with another file of that name."""
    folder = written(tmp_path / "in", rank_0=trace(0), rank_1=trace(1))
    original = ray.get

    def elsewhere(one: tuple[Callable[[Order], Done], Order]) -> Done:
        function, order = one
        path = "/nowhere" if order.path.endswith("rank_0.json") else order.path
        return original((function, Order(path, order.size + 1, order.reader, order.memory_bytes)))

    monkeypatch.setattr(ray, "get", elsewhere)
    with pytest.raises(BadDataError, match="a node needs the folder at the same path"):
        importing_ranks.import_folder(folder, tmp_path / "out", reader=None, report=silent, by=OnRay(None))


def test_a_cluster_without_cores_for_tasks_is_refused(tmp_path: Path, ray: Ray) -> None:
    """Nothing would ever be read."""
    ray.cores = 0.0
    with pytest.raises(UnavailableError, match="cores for tasks"):
        importing_ranks.import_folder(
            written(tmp_path / "in", "0.json"), tmp_path / "out", reader=None, report=silent, by=OnRay(None)
        )
    assert not (tmp_path / "out").exists()


def test_no_task_at_a_time_makes_no_sense() -> None:
    """It is said before a cluster is asked."""
    with pytest.raises(UsageError, match="--jobs must be at least 1"):
        OnRay(None, 0)
