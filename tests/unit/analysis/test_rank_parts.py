"""What the steady training of a run of ranks is made of."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import rank_parts
from dlprof.analysis.rank_parts import TrainingParts
from dlprof.store.ranked import Member, RankedRun
from tests.unit import ranked_runs
from tests.unit.runs import MS, S

SAMPLE = {"pid": 42, "interval_ns": MS, "run_ns": 0, "wait_ns": 0}


def test_parts_are_means_of_the_ranks_over_all_steps(tmp_path: Path) -> None:
    """40 steps of 20 ms: rank 0 waits for 7 ms in each, rank 1 for nobody; both have 1 ms of transfer."""
    found = rank_parts.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 12}))
    assert found == TrainingParts(800 * MS, 0, 140 * MS, 40 * MS, None, None)


def test_a_rank_alone_waits_for_nobody(tmp_path: Path) -> None:
    """All that it stands still for is the transfer."""
    both = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    alone = RankedRun(both.folder, both.manifest, (Member(0, both.members[0].run),), 1)
    found = rank_parts.of_run(alone)
    assert found is not None
    assert (found.wait_ns, found.transfer_ns) == (0, 40 * 8 * MS)


def test_a_rank_that_lost_the_others_is_not_alone(tmp_path: Path) -> None:
    """What it waited for is not known."""
    both = ranked_runs.make(tmp_path, {0: 5, 1: 12})
    left = RankedRun(both.folder, both.manifest, (Member(0, both.members[0].run),), 2)
    found = rank_parts.of_run(left)
    assert found is not None
    assert (found.wait_ns, found.transfer_ns) == (None, None)


def test_waits_for_a_core_are_those_between_the_first_step_and_the_last(tmp_path: Path) -> None:
    """A quarter of that time; what was waited at the start, for imports, is not counted."""
    samples = {
        rank: [
            {**SAMPLE, "time_ns": at, "main_wait_ns": waited, "rank": rank}
            for at, waited in ((0, 0), (begin, S), (begin + 800 * MS, S + 200 * MS), (9 * S, 5 * S))
        ]
        for rank, begin in ((0, 2 * S), (1, S))
    }
    made = ranked_runs.make(
        tmp_path, {0: 5, 1: 12}, rank_0={"process_samples": samples[0]}, rank_1={"process_samples": samples[1]}
    )
    found = rank_parts.of_run(made)
    assert found is not None
    assert found.contention_ns == 200 * MS
