"""Which of several traces of a rank goes with those of the others."""

from __future__ import annotations

from dlprof.pipeline import rank_cycles
from dlprof.pipeline.rank_cycles import Candidate


def numbers(*read: Candidate) -> dict[int, int]:
    """Rank to the number of the file that is taken."""
    return {rank: one.number for rank, one in rank_cycles.chosen(read).items()}


def test_cycles_that_were_taken_at_one_time_go_together() -> None:
    """Whatever their order, and the size of their files; of equal ones the first."""
    read = [
        Candidate(0, 0, 1000, 100), Candidate(1, 0, 2000, 100), Candidate(3, 1, 1005, 100), Candidate(2, 1, 2003, 100),
    ]  # fmt: skip

    assert numbers(*read) == {0: 1, 1: 2}
    assert rank_cycles.doubt(read, rank_cycles.chosen(read)) is None


def test_the_cycle_that_all_ranks_have_is_taken() -> None:
    """Rank 1 was only there for the second one."""
    read = [Candidate(0, 0, 1000, 100), Candidate(1, 0, 2000, 100), Candidate(2, 1, 2010, 100)]

    assert numbers(*read) == {0: 1, 1: 2}


def test_traces_that_share_no_time_are_told() -> None:
    """The first of each rank is taken."""
    read = [Candidate(0, 0, 1000, 100), Candidate(1, 0, 2000, 100), Candidate(2, 1, 9000, 100)]

    assert numbers(*read) == {0: 0, 1: 2}
    assert rank_cycles.doubt(read, rank_cycles.chosen(read)) == (
        "several traces of rank 0: the traces of rank 0 share no time with the others, so that those which were taken "
        "need not belong together: import those of one cycle"
    )


def test_traces_that_do_not_tell_their_time_are_told() -> None:
    """Nobody knows which belong together."""
    read = [Candidate(0, 0, None, 100), Candidate(1, 0, None, 100), Candidate(2, 1, None, 100)]

    assert numbers(*read) == {0: 0, 1: 2}
    told = rank_cycles.doubt(read, rank_cycles.chosen(read))
    assert told is not None
    assert "do not all tell when they were taken" in told


def test_one_trace_of_each_rank_is_no_choice() -> None:
    """Nothing is to be said."""
    read = [Candidate(0, 0, None, 100), Candidate(1, 1, 5, 100)]

    assert numbers(*read) == {0: 0, 1: 1}
    assert rank_cycles.doubt(read, rank_cycles.chosen(read)) is None
