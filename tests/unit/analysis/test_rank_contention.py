"""Whether ranks have enough cores together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import rank_contention
from tests.unit import ranked_runs
from tests.unit.runs import S


def samples(rank: int, *pairs: tuple[float, float]) -> list[dict[str, Any]]:
    """A sample a second: seconds that all threads ran, and that they waited for a core, half of them the main one."""
    return [
        {"rank": rank, "time_ns": second * S, "interval_ns": S, "run_ns": int(ran * S), "wait_ns": int(waited * S),
         "main_run_ns": 0, "main_wait_ns": int(waited * S / 2)}
        for second, (ran, waited) in enumerate(pairs)
    ]  # fmt: skip


def test_threads_of_all_ranks_are_counted_against_the_cores(tmp_path: Path) -> None:
    """In two seconds rank 0 ran for 2 and waited for 1, rank 1 ran for 1; a counter that went back is left out."""
    rows = {0: samples(0, (0, 0), (1, 0.5), (2, 1)), 1: samples(1, (5, 0), (0, 0), (1, 0))}
    told: dict[str, Any] = {f"rank_{rank}": {"process_samples": own} for rank, own in rows.items()}

    found = rank_contention.of_ranks(ranked_runs.make(tmp_path, {0: 5, 1: 5}, **told).members)

    assert (found.main_wait_ns, found.wall_ns) == ({0: S // 2, 1: 0}, {0: 2 * S, 1: 2 * S})
    assert (found.runnable, found.running, found.cores) == (2.0, 1.5, 2)


def test_ranks_without_samples_are_left_out(tmp_path: Path) -> None:
    """Whose threads were not looked at."""
    found = rank_contention.of_ranks(ranked_runs.make(tmp_path, {0: 5, 1: 5}).members)
    assert found.main_wait_ns == {}


def on_machine(used_pct: float, others_pct: float) -> dict[str, Any]:
    """One sample of the machine, of the whole run, as a rank saw it."""
    return {"machine": [{"time_ns": 9 * S, "interval_ns": 9 * S, "cpu_pct": used_pct, "others_cpu_pct": others_pct}]}


def test_cores_of_others_are_those_that_no_rank_used(tmp_path: Path) -> None:
    """Rank 0 with its dlprof used 60 % of a core, rank 1 40 %, and the machine was full: one core is of others."""
    told: dict[str, Any] = {"rank_0": on_machine(200, 140), "rank_1": on_machine(200, 160)}

    assert rank_contention.of_others(ranked_runs.make(tmp_path, {0: 5, 1: 5}, **told)) == 1.0


def test_beside_a_rank_that_is_missing_others_are_not_known(tmp_path: Path) -> None:
    """What it used would be theirs."""
    told: dict[str, Any] = {"rank_0": on_machine(200, 140), "rank_1": on_machine(200, 160)}

    assert rank_contention.of_others(ranked_runs.make(tmp_path, {0: 5, 1: 5}, world=3, **told)) is None


def test_others_are_not_known_where_one_rank_was_not_sampled(tmp_path: Path) -> None:
    """Nothing is told of what it used."""
    assert rank_contention.of_others(ranked_runs.make(tmp_path, {0: 5, 1: 5}, rank_0=on_machine(200, 140))) is None
