"""What kernel windows may cost."""

from __future__ import annotations

import pytest
from dlprof_probes.inproc.kernels.affordable import Affordable

from tests.unit.inproc.conftest import Clock

MS = 1_000_000
S = 1_000_000_000


@pytest.fixture
def bearing(now: Clock) -> Affordable:
    """Half a percent, after a second of the run, in which plain steps took 10 ms each."""
    made = Affordable(0.005)
    now.ns += S
    made.plain_step(now.ns - 20 * MS, 1, False)
    made.plain_step(now.ns, 2, False)
    return made


def test_the_first_window_is_always_taken(bearing: Affordable) -> None:
    """What it costs is not known before."""
    assert bearing.another("fit")


def test_another_one_waits_until_the_run_can_bear_it(bearing: Affordable, now: Clock) -> None:
    """Two of 20 ms are half a percent of eight seconds."""
    bearing.spent(20 * MS, now.ns, now.ns, 10)

    assert not bearing.another("evaluate")
    now.ns += 7 * S
    assert bearing.another("evaluate")


def test_one_that_was_never_taken_is_told(bearing: Affordable, now: Clock) -> None:
    """With what the others took."""
    bearing.spent(20 * MS, now.ns, now.ns, 10)
    bearing.another("evaluate")

    told = {"what": "kernel windows", "from": 2, "to": 1, "why": "windows took 20.0 ms in 1.0 s"}
    assert bearing.thinned() == told


def test_one_that_was_taken_in_the_end_is_none_that_was_left_out(bearing: Affordable, now: Clock) -> None:
    """It came later."""
    bearing.spent(MS, now.ns - S, now.ns - S, 10)
    bearing.another("evaluate")
    now.ns += 10 * S
    bearing.another("evaluate")

    assert bearing.thinned() is None


def test_a_window_ends_early_when_its_steps_cost_too_much(bearing: Affordable, now: Clock) -> None:
    """Each of them took 16 ms instead of 10; half a percent of a second is 5 ms. Fewer than three are rarely enough."""
    begin = now.ns

    assert [bearing.is_enough(begin, begin + steps * 16 * MS, steps, 10) for steps in (1, 2, 3)] == [False, False, True]
    assert bearing.thinned() == {
        "what": "steps of a kernel window", "from": 10, "to": 3, "why": "windows took 0.0 ms in 1.0 s"
    }  # fmt: skip


def test_a_first_step_that_costs_far_too_much_is_the_only_one(bearing: Affordable, now: Clock) -> None:
    """It took 31 ms instead of 10: more than four times the 5 ms that are granted."""
    assert not bearing.is_enough(now.ns, now.ns + 29 * MS, 1, 10)
    assert bearing.is_enough(now.ns, now.ns + 31 * MS, 1, 10)


def test_what_is_between_epochs_is_no_plain_step(now: Clock) -> None:
    """Steps of 10 ms, and two seconds to write a checkpoint: one of 16 ms in a window is dear all the same."""
    bearing = Affordable(0.005)
    now.ns += S
    for epoch, ms in ((0, -2100), (0, -2090), (0, -2080), (1, -20), (1, -10), (1, 0)):
        bearing.plain_step(now.ns + ms * MS, 1, False, epoch)

    assert [bearing.is_enough(now.ns, now.ns + steps * 16 * MS, steps, 10) for steps in (2, 3)] == [False, True]


def test_steps_that_waver_are_no_dearer_where_a_window_meets_a_long_one(now: Clock) -> None:
    """Plain ones took 80, 140, 180 and 260 ms, as where they wait for input; 250 ms is no cost of the tracer's."""
    bearing = Affordable(0.005)
    ends = [now.ns + ms * MS for ms in (0, 80, 220, 400, 660)]
    for end in ends:
        bearing.plain_step(end, 1, False)
    now.ns = begin = ends[-1]

    assert not bearing.is_enough(begin, begin + 250 * MS, 1, 10)
    assert bearing.is_enough(begin, begin + 500 * MS, 1, 10)


def test_steps_that_are_still_to_come_make_the_run_longer(bearing: Affordable, now: Clock) -> None:
    """Ten thousand of them bear half a second."""
    bearing.planned(10_000)
    begin = now.ns

    assert not bearing.is_enough(begin, begin + 3 * 50 * MS, 3, 10)


def test_without_a_limit_windows_are_as_they_were_asked_for(now: Clock) -> None:
    """As many, and as long."""
    bearing = Affordable(None)
    bearing.plain_step(now.ns, 1, False)
    bearing.plain_step(now.ns + MS, 1, False)
    bearing.spent(S, now.ns, now.ns + S, 10)

    assert bearing.another("evaluate")
    assert not bearing.is_enough(now.ns, now.ns + S, 9, 10)
    assert bearing.thinned() is None


def test_a_compilation_is_no_plain_step(bearing: Affordable, now: Clock) -> None:
    """What it took is not compared with."""
    bearing.plain_step(now.ns + 5 * S, 1, True)

    assert bearing.is_enough(now.ns, now.ns + 3 * 50 * MS, 3, 10)
