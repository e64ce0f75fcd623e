"""Two runs of ranks beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import rank_pairs
from dlprof.analysis.rank_pairs import PartPair, RanksComparison
from tests.unit import ranked_runs, runs
from tests.unit.runs import MS


def of_step(rank: int, dur_ms: float, last_ms: float, own_ms: float) -> dict[str, Any]:
    """Tables of a rank whose steps take so long, and which comes to their collectives after `own_ms`."""
    return {
        "steps": [{**one, "rank": rank} for one in runs.steps(40, start_s=2.0 - rank, dur_ms=dur_ms)],
        "collectives": ranked_runs.collectives(rank, own_ms, last_ms, dur_ms=dur_ms),
    }


def compared(folder: Path, b_own: dict[int, float] | None = None, **changes: Any) -> RanksComparison:
    """A, whose rank 1 does 12 of 20 ms itself, and B, in which it does as little as the other: steps of 13 ms."""
    a = ranked_runs.make(folder / "a", {0: 5, 1: 12})
    own = b_own or {0: 5, 1: 5}
    tables = {f"rank_{rank}": of_step(rank, 13.0, max(own.values()), ms) for rank, ms in own.items()}
    b = ranked_runs.make(folder / "b", own, **{**tables, **changes})
    return rank_pairs.compare(rank_pairs.side("a", a), rank_pairs.side("b", b))


def test_the_parts_sum_to_the_difference_of_the_steps(tmp_path: Path) -> None:
    """7 ms: half of it is rank 0's wait, the other half rank 1's own work, as means of both."""
    found = compared(tmp_path)
    assert (found.a_step_ns, found.b_step_ns, found.delta_ns, found.is_noise) == (20 * MS, 13 * MS, 7 * MS, False)
    assert found.parts == (
        PartPair("input", 0, 0), PartPair("wait", 3_500_000, 0), PartPair("transfer", MS, MS),
        PartPair("work", 15_500_000, 12 * MS),
    )  # fmt: skip
    assert sum(part.delta_ns for part in found.parts) == 7 * MS


def test_the_rank_that_does_more_itself_is_the_one_that_changed(tmp_path: Path) -> None:
    """The steps of both are longer by 7 ms, the work of rank 1 only."""
    found = compared(tmp_path)
    assert [(one.rank, one.delta_ns, one.own_delta_ns) for one in found.ranks] == [(0, 7 * MS, 0), (1, 7 * MS, 7 * MS)]
    assert found.most_changed is not None
    assert found.most_changed.rank == 1
    assert found.a.summary.straggler is not None
    assert (found.a.summary.straggler.rank, found.b.summary.straggler) == (1, None)


def test_less_than_a_tenth_is_noise(tmp_path: Path) -> None:
    """20 ms and 19."""
    tables = {f"rank_{rank}": of_step(rank, 19.0, 12, ms) for rank, ms in {0: 5.0, 1: 12.0}.items()}
    found = compared(tmp_path, {0: 5, 1: 12}, **tables)
    assert (found.delta_ns, found.is_noise, found.most_changed) == (MS, True, None)


def test_ranks_of_one_side_only_are_told(tmp_path: Path) -> None:
    """With the numbers of both, and with the one that failed."""
    process = {"pid": 42, "exit_code": 3, "signal": None, "wall_ns": 5}
    own = {0: 5.0, 1: 5.0, 2: 5.0}
    third = {**of_step(2, 13.0, 5, 5), "told": {"process": process}}
    found = compared(tmp_path, own, rank_2=third)
    assert [(one.rank, one.a_ns, one.b_ns) for one in found.ranks][2] == (2, None, 13 * MS)
    assert "the numbers of ranks: 2 and 3" in found.differences
    assert "in B rank 2 did not end as it should" in found.why_not
