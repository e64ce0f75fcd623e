"""Collectives on the devices of several ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import device_collectives, ranks
from dlprof.analysis.ranks import Straggler
from tests.unit import ranked_runs
from tests.unit.runs import MS

OPS = [
    {"op_id": 1, "kind": "kernel", "name": "ncclKernel_AllReduce", "category": "collective"},
    {"op_id": 2, "kind": "kernel", "name": "gemm", "category": "matmul"},
]


def events(*kernels: tuple[int, float, float]) -> list[dict[str, Any]]:
    """Number of an operator, begin and duration (ms) of each, in any order."""
    return [
        {"op_id": op, "device": 0, "lane": "7", "start_ns": round(begin * MS), "dur_ns": round(dur * MS), "nested_ns": 0,
         "window": 0}
        for op, begin, dur in kernels
    ]  # fmt: skip


def traced(*kernels: tuple[int, float, float]) -> dict[str, Any]:
    """Tables of a rank whose device was traced, and whose host tells of no collectives."""
    return {"collectives": [], "kernel_ops": OPS, "kernel_events": events(*kernels)}


def test_the_rank_whose_kernel_is_shortest_came_last(tmp_path: Path) -> None:
    """Rank 0 waits for 3 ms, then for 1 ms; rank 1 for 2 ms of the third."""
    found = device_collectives.match(
        ranked_runs.make(
            tmp_path,
            {0: 5, 1: 12},
            rank_0=traced((1, 40, 1), (1, 0, 4), (2, 5, 3), (1, 20, 2)),
            rank_1=traced((1, 3, 1), (1, 21, 1), (1, 38, 3)),
        ).members
    )
    assert (found.count, found.wait_ns, found.transfer_ns) == (3, {0: 4 * MS, 1: 2 * MS}, 3 * MS)
    assert (found.last_share, found.spread_ns) == ({0: 1 / 3, 1: 2 / 3}, 2 * MS)


def compiled(first_step: int, *waits: float) -> dict[str, Any]:
    """Tables of a rank whose host has collectives in a window of two steps, which take so long (ms)."""
    ops = [
        {"op_id": 1, "kind": "operator", "name": "all-reduce.2", "category": "collective"},
        {"op_id": 2, "kind": "operator", "name": "c10d::allreduce_", "category": "collective"},
    ]
    rows = events(*((1, 20 * number, dur) for number, dur in enumerate(waits)), (2, 0, 9))
    window = {"window": 0, "engine": "jax", "source": "x", "loop": "train", "start_ns": 0, "dur_ns": 40 * MS,
              "first_step": first_step, "steps": 2, "dropped": 0}  # fmt: skip
    host = [{**row, "device": -1} for row in rows]
    return {"collectives": [], "kernel_ops": ops, "kernel_events": host, "kernel_windows": [window]}


def test_collectives_of_compiled_programs_on_the_host_tell_the_same(tmp_path: Path) -> None:
    """As XLA runs them on a CPU: rank 0 waits for 5 ms in each of the two steps that both traced."""
    both = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0=compiled(6, 6, 6), rank_1=compiled(6, 1, 1))
    found = device_collectives.match(both.members)
    assert (found.count, found.steps, found.wait_ns) == (2, 2, {0: 10 * MS, 1: 0})
    assert ranks.of_run(both).straggler == Straggler(1, 5 * MS, "work", 5 * MS, 1.0)


def test_collectives_of_other_steps_are_not_put_together(tmp_path: Path) -> None:
    """Rank 1 was traced a step later."""
    both = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0=compiled(6, 6, 6), rank_1=compiled(7, 1, 1))
    assert device_collectives.match(both.members).count == 0


def test_traces_that_hold_other_collectives_are_not_put_together(tmp_path: Path) -> None:
    """Which of them belong together nobody knows."""
    both = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0=traced((1, 0, 4), (1, 9, 4)), rank_1=traced((1, 3, 1)))
    found = device_collectives.match(both.members)
    assert (found.count, found.unknown) == (0, "the traces of the ranks do not hold the same collectives on devices")


def test_without_devices_it_is_said(tmp_path: Path) -> None:
    """As on a CPU."""
    found = device_collectives.match(ranked_runs.make(tmp_path, {0: 5, 1: 12}).members)
    assert found.unknown == "no collectives on devices were traced in two ranks"


def test_the_rank_that_devices_wait_for_is_the_straggler(tmp_path: Path) -> None:
    """40 steps, in which rank 0 waits for 2 ms each; one ms would be just what is worth a word."""
    early = [(1, 20 * n, 3) for n in range(40)]
    late = [(1, 20 * n + 2, 1) for n in range(40)]
    summary = ranks.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0=traced(*early), rank_1=traced(*late)))
    assert summary.straggler == Straggler(1, 2 * MS, "work", 2 * MS, 1.0)
    assert [(one.rank, one.communication_ns) for one in summary.devices] == [(0, 120 * MS), (1, 40 * MS)]


def test_ranges_of_threads_that_exchange_values_tell_it_where_no_device_does(tmp_path: Path) -> None:
    """Operators only hand a collective on to them."""
    ops = [
        {"op_id": 1, "kind": "annotation", "name": "gloo:all_reduce", "category": "other"},
        {"op_id": 2, "kind": "operator", "name": "c10d::allreduce_", "category": "collective"},
    ]

    def rank(*waits: float) -> dict[str, Any]:
        rows = events(*((1, 20 * number, dur) for number, dur in enumerate(waits)), (2, 0, 1))
        return {"collectives": [], "kernel_ops": ops, "kernel_events": [{**row, "device": -1} for row in rows]}

    found = device_collectives.match(
        ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0=rank(9, 8), rank_1=rank(1, 1)).members
    )

    assert (found.count, found.wait_ns, found.last_share) == (2, {0: 15 * MS, 1: 0}, {0: 0.0, 1: 1.0})


def test_foreign_traces_of_one_machine_that_share_no_time_are_not_put_together(tmp_path: Path) -> None:
    """The first collective of one is not the first of the other."""
    tables = traced((1, 0, 4), (1, 20, 2))
    told = [
        {"state": "imported", "clock": {"origin_wall_ns": begin}, "process": {"wall_ns": 100}} for begin in (1000, 2000)
    ]

    found = device_collectives.match(
        ranked_runs.make(
            tmp_path, {0: 5, 1: 12}, rank_0={**tables, "told": told[0]}, rank_1={**tables, "told": told[1]}
        ).members
    )

    assert found.unknown == "the traces of the ranks were not taken at one time"
    assert not found.wait_ns
