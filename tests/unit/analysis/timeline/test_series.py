"""Cores, memory and GPUs over time."""

from __future__ import annotations

from typing import Any

from dlprof.analysis.timeline.series import Series, all_series
from tests.unit.analysis.rows import in_memory
from tests.unit.runs import table


def series(**rows: list[dict[str, Any]]) -> list[tuple[str, str, list[int], list[float]]]:
    """Group, title, times and values of all series."""
    found: list[Series] = all_series(in_memory(**{name: table(name, some) for name, some in rows.items()}))
    return [(one.group, one.title, one.time_ns.tolist(), one.values.tolist()) for one in found]


def test_a_mean_holds_from_the_begin_of_its_interval() -> None:
    """The first interval began before the run did: there it begins with the run."""
    cores = [{"time_ns": at, "interval_ns": 10, "core": 0, "busy_pct": pct} for at, pct in ((5, 50.0), (15, 25.0))]

    assert series(cores=cores) == [("machine", "core 0 busy (%)", [0, 5], [50.0, 25.0])]


def test_a_value_of_a_moment_holds_from_then_on() -> None:
    """Such as memory."""
    machine = [{"time_ns": 20, "interval_ns": 10, "memory_available_bytes": 7}]

    assert series(machine=machine) == [("machine", "memory available (bytes)", [20], [7.0])]


def test_processes_and_gpus_have_groups_of_their_own() -> None:
    """In the order of their numbers; what was not measured has no curve."""
    samples = [{"time_ns": 9, "interval_ns": 1, "pid": pid, "threads": pid} for pid in (43, 42)]
    gpu: list[dict[str, Any]] = [{"time_ns": 3, "gpu": 0, "power_w": None}, {"time_ns": 4, "gpu": 0, "power_w": 70.5}]

    assert series(process_samples=samples, gpu=gpu) == [
        ("process 42", "threads (threads)", [9], [42.0]),
        ("process 43", "threads (threads)", [9], [43.0]),
        ("GPU 0", "power (W)", [4], [70.5]),
    ]
