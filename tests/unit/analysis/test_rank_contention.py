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
