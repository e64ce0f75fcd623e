"""Steps of ranks in stretches."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dlprof.analysis import rank_steps, ranks
from dlprof.analysis.rank_steps import StepRows
from tests.unit import ranked_runs
from tests.unit.runs import MS, S


def rows(of_ms: list[float], count: int = 1) -> StepRows:
    """Rows of so many steps each, without pauses, of which a quarter is waiting for batches."""
    dur = np.array([int(one * MS) for one in of_ms], np.int64)
    end = np.cumsum(dur)
    return StepRows(end - dur, end, np.full(len(dur), count, np.int64), dur // 4, None, None)


def test_few_steps_are_each_for_itself() -> None:
    """Up to 1,000 of a rank."""
    assert rank_steps.width(1000, 1, 2) == 1
    assert rank_steps.width(1001, 1, 2) == 2


def test_many_ranks_have_fewer_stretches_each() -> None:
    """150,000 of all of them; 60 of each at least."""
    assert rank_steps.width(15_000, 1, 1000) == 100
    assert rank_steps.width(6_000, 1, 30_000) == 100


def test_a_stretch_has_means_and_its_longest_step() -> None:
    """Of 3, 5 and 10 ms the first two together."""
    made = rank_steps.stretches(rows([3, 5, 10]), 2)
    assert made.whole.tolist() == [4 * MS, 10 * MS]
    assert made.input.tolist() == [MS, 2.5 * MS]
    assert (made.longest.tolist(), made.longest_at.tolist()) == ([5 * MS, 10 * MS], [2, 3])
    assert (made.begin.tolist(), made.end.tolist()) == ([0, 8 * MS], [8 * MS, 18 * MS])
    assert made.own.tolist() == made.whole.tolist()


def test_rows_of_several_steps_count_as_these() -> None:
    """Two calls of five steps each, of 10 and 20 ms."""
    made = rank_steps.stretches(rows([10, 20], count=5), 5)
    assert made.whole.tolist() == [2 * MS, 4 * MS]
    assert made.longest_at.tolist() == [1, 6]


def test_what_ranks_did_themselves_is_without_collectives(tmp_path: Path) -> None:
    """Rank 0 waits for 7 ms of 20 and 1 more for the transfer; rank 1 for the transfer only."""
    found = ranks.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 12})).stretches
    assert {rank: set(one.own.tolist()) for rank, one in found.items()} == {0: {12 * MS}, 1: {19 * MS}}
    assert found[0].wait is not None
    assert found[0].wait.tolist() == [7 * MS] * 40
    assert found[0].begin[0] == 2 * S
