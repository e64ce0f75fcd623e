"""Counting what Python holds, in the traced process."""

from __future__ import annotations

import threading
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest
from dlprof_probes.inproc import held_objects, process_memory
from dlprof_probes.inproc.held_objects import HeldObjects

S = 10**9


class Recorder:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.has_loops = True
        self.write_ns = 0
        self.told: list[dict[str, Any]] = []
        self.spans: list[str] = []

    def objects(self, facts: dict[str, Any]) -> None:
        """A moment."""
        self.told.append(facts)

    def complete(self, _kind: int, name: str, _begin: int, _end: int) -> None:
        """A span."""
        self.spans.append(name)


class Array:
    """An engine's array."""


class Parameter(Array):
    """One that is made of it."""


class Process:
    """A process whose time, blocks, objects and memory are what a test says; counting takes 0.1 s."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time_ns = 100 * S
        self.blocks = 500_000
        self.held: list[Any] = [Array(), Parameter(), "text"]
        self.anonymous = 300 << 20
        self.recorder = Recorder()
        self.windows = SimpleNamespace(active=None)
        monkeypatch.setattr(held_objects, "now", lambda: self.time_ns)
        monkeypatch.setattr(held_objects, "_used", lambda: self.time_ns)
        monkeypatch.setattr(held_objects, "_allocated_blocks", lambda: self.blocks)
        monkeypatch.setattr(held_objects, "_get_objects", self._objects)
        told = {"anonymous_bytes": 0}
        monkeypatch.setattr(process_memory, "at", lambda _begin: {**told, "anonymous_bytes": self.anonymous})
        self.counts = HeldObjects(self.recorder, self.windows, lambda: [Array])

    def _objects(self) -> list[Any]:
        self.time_ns += S // 10
        return list(self.held)

    def look(self, after_s: float = 0.5) -> dict[str, Any] | None:
        """What is told of a moment; None: nothing is."""
        self.time_ns += round(after_s * S)
        before = len(self.recorder.told)
        self.counts.look()
        return self.recorder.told[-1] if len(self.recorder.told) > before else None


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    """One that trains."""
    return Process(monkeypatch)


def test_blocks_are_told_twice_a_second(process: Process) -> None:
    """Writings of the stream may come more often: of a rank, twenty times a second."""
    told = [process.look(0.05) is not None for _ in range(40)]

    assert sum(told) == 5
    assert process.recorder.told[0] == {"time_ns": 100_050_000_000, "blocks": 500_000}


def test_before_there_is_a_loop_nothing_is_counted(process: Process) -> None:
    """Imports take blocks, too."""
    process.recorder.has_loops = False

    assert process.look() is None


def test_other_threads_count_nothing(process: Process) -> None:
    """The stream is written by whichever thread comes by; the main one would wait for it."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(process.look()))
    thread.start()
    thread.join()

    assert found == [None]


def test_objects_are_counted_for_a_thousandth_of_the_time(process: Process) -> None:
    """0.075 s by estimate, 150 ns for each block: after 75 s; then 0.1 s were measured, and it is after 100 s."""
    times = [process.time_ns / S for _ in range(600) if "objects" in (process.look(0.5) or {})]

    assert times == pytest.approx([176.1, 276.2, 376.3], abs=1.0)
    assert process.recorder.spans == ["count objects"] * 3


@pytest.mark.parametrize(("blocks", "anonymous"), [(520_000, 300), (500_000, 340)])
def test_where_it_grows_objects_are_counted_twenty_times_as_often(
    process: Process, blocks: int, anonymous: int
) -> None:
    """By blocks or by memory: then it is worth knowing what."""
    for _ in range(12):
        process.look()
    process.blocks, process.anonymous = blocks, anonymous << 20

    assert "objects" in (process.look() or {})
    times = [process.time_ns / S for _ in range(40) if "objects" in (process.look(0.5) or {})]
    assert [after - before for before, after in pairwise(times)] == pytest.approx([5.1] * 3, abs=0.5)


def test_arrays_of_engines_and_types_of_which_there_are_more_are_told(process: Process) -> None:
    """Subclasses of an array are arrays; types of equally many objects are not named."""
    first = process.look(0.5)
    for _ in range(160):
        first = process.look(0.5) if "objects" not in (first or {}) else first
    process.held += [Array(), Array(), Process]
    process.blocks = 600_000
    second = process.look(20)

    assert first is not None
    assert second is not None
    assert (first["objects"], first["tensors"], first["types"]) == (3, 2, [])
    assert (second["objects"], second["tensors"]) == (6, 4)
    assert second["types"] == [[f"{__name__}.Array", 3, 2], ["type", 1, 1]]


def test_a_class_of_the_programs_own_runs_nothing(process: Process) -> None:
    """Its metaclass has a hash, a name and bases of its own."""

    class Meta(type):
        def __hash__(cls) -> int:
            raise AssertionError("hashed")

        def __eq__(cls, other: object) -> bool:
            raise AssertionError("compared")

        def __getattribute__(cls, name: str) -> Any:
            raise AssertionError("asked")

    Odd = Meta("Odd", (), {"__module__": "__main__"})  # noqa: N806
    process.held = [object.__new__(cast("Any", Odd))]
    process.counts._first = {}
    process.blocks = 1
    told = [process.look(10), process.look(10)][-1]

    assert told is not None
    assert told["types"] == [["Odd", 1, 1]]


@pytest.mark.parametrize("why", ["kernels are traced", "there are too many"])
def test_objects_are_left_alone_where(process: Process, why: str) -> None:
    """It would be in the trace, or take long."""
    process.windows.active = object() if why == "kernels are traced" else None
    process.blocks = 3 << 20 if why == "there are too many" else 100

    assert all("objects" not in (process.look(100) or {}) for _ in range(20))


def test_a_python_without_its_own_allocator_tells_no_blocks(process: Process) -> None:
    """`PYTHONMALLOC=malloc`: it counts 0."""
    process.blocks = 0

    assert process.look() is None


def test_a_class_without_a_module_has_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is made in C may have none."""

    def missing(_kind: type) -> str:
        raise AttributeError("__module__")

    monkeypatch.setattr(held_objects, "_module_of", missing)

    assert held_objects._name(Parameter) == "Parameter"
