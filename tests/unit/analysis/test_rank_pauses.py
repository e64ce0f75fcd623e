"""When all ranks but one stand still."""

from __future__ import annotations

import numpy as np

from dlprof.analysis import rank_pauses
from dlprof.analysis.rank_pauses import LoneWork, Pauses
from dlprof.analysis.stretches import Stretches
from tests.unit.runs import MS


def ms(*rows: list[float]) -> np.ndarray:
    """Moments of ranks (ms), as ns."""
    return np.array(rows, np.float64).__mul__(MS).astype(np.int64)


def test_a_pause_is_from_the_last_of_the_others_to_the_one_that_is_later() -> None:
    """Three ranks: the second comes 100 ms after the third."""
    found = rank_pauses.of_collectives(
        (0, 1, 2), ms([10, 200], [110, 201], [12, 202]), ms([10, 200], [110, 201], [12, 202])
    )
    assert (found.rank.tolist(), found.lone_ns.tolist()) == ([1, 2], [98 * MS, MS])
    assert found.until.tolist() == [110 * MS, 202 * MS]


def test_steps_tell_it_where_the_others_go_on_no_earlier() -> None:
    """Rank 1 begins its second step 500 ms late: rank 0 stays in its second one until then."""
    late = rank_pauses.of_steps((0, 1), ms([0, 10, 520, 530], [0, 510, 521, 531]))
    assert late.lone_ns.tolist() == [0, 500 * MS, MS]
    alone = rank_pauses.of_steps((0, 1), ms([0, 10, 20, 30], [0, 510, 520, 530]))
    assert alone.lone_ns.tolist()[1] == 0


def test_only_pauses_that_are_longer_than_steps_are_lone_work() -> None:
    """30 ms at least, with steps of 30; what two streams tell is counted once."""
    one = Pauses(np.array([1, 0, 1]), ms([100, 200, 400])[0], ms([50, 29, 60])[0])
    two = Pauses(np.array([1]), ms([101])[0], ms([50])[0])
    assert rank_pauses.longest([one, two], 30 * MS) == LoneWork(
        1, ((50 * MS, 101 * MS), (340 * MS, 400 * MS)), is_inferred=False
    )
    assert rank_pauses.longest([one], 100 * MS) is None


def test_pauses_of_all_ranks_are_nobodys_doing() -> None:
    """As on a machine that others use: 50 and 60 ms."""
    both = Pauses(np.array([1, 0]), ms([100, 200])[0], ms([50, 60])[0])
    assert rank_pauses.longest([both], 10 * MS) is None


def test_what_ranks_wait_for_before_they_train_is_left_out() -> None:
    """The first of two pauses begins before."""
    both = Pauses(np.array([1, 0]), ms([100, 200])[0], ms([50, 60])[0])
    assert both.since(51 * MS).until.tolist() == [200 * MS]


def test_pauses_with_a_stretch_of_time_in_them_are_left_out() -> None:
    """From 50 to 100 and from 140 to 200 ms; a stretch from 100 to 141."""
    both = Pauses(np.array([1, 0]), ms([100, 200])[0], ms([50, 60])[0])
    assert both.apart_from(Stretches.of([(100 * MS, 141 * MS)])).until.tolist() == [100 * MS]


def test_pauses_that_are_mostly_in_some_stretches_are_left_out() -> None:
    """From 50 to 100 and from 140 to 200 ms: 10 of the 50, and 40 of the 60."""
    both = Pauses(np.array([1, 0]), ms([100, 200])[0], ms([50, 60])[0])
    times = Stretches.of([(90 * MS, 100 * MS), (150 * MS, 190 * MS)])
    assert both.apart_from(times, 0.5).until.tolist() == [100 * MS]
