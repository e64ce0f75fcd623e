"""When lines are counted: all the time, or in windows, by what that costs."""

from __future__ import annotations

from typing import Any

from dlprof_probes.inproc import duty
from dlprof_probes.inproc.duty import Duty, Seen

MS = 1_000_000
S = 1_000 * MS
TIGHT = 20e6
"""Lines per second of a tight loop."""
SLOW = 1_000


def seen(at_ms: float, *, cpu_ms: float = 0, rate: float | None = None, spent_us: int = 0) -> Any:
    """What was found at a time."""
    return Seen(int(at_ms * MS), int(cpu_ms * MS), rate, spent_us * 1000)


def begun(share: float = 0.005) -> Any:
    """Counting that began at 0; an event costs 200 ns."""
    return Duty(share, 200, 0)


def thinned() -> Any:
    """The same, in windows since 100 ms."""
    made = begun()
    made.next(seen(100, cpu_ms=100))
    assert made.next(seen(100, rate=TIGHT)).mode == duty.THINNED
    return made


def test_a_thread_that_hardly_runs_is_counted_wholly_without_a_census() -> None:
    """The CPU time that it took while it was counted bounds what that cost: 20 ms are credit."""
    assert begun().next(seen(50, cpu_ms=10)) == (duty.EXACT, 0.05, False, 0)


def test_while_keras_runs_nothing_is_counted_and_looks_are_rarer() -> None:
    """No time of the thread was taxed."""
    assert begun().next(seen(50)).wait_s == 0.1


def test_a_thread_that_could_be_dear_to_count_is_asked_for_its_rate() -> None:
    """40 ms of CPU time may hold 34 ms of counting, more than the credit."""
    assert begun().next(seen(50, cpu_ms=40)).census is True


def test_code_with_few_lines_a_second_stays_counted_wholly() -> None:
    """1,000 lines of 200 ns are 0.02 %, whatever else the thread computes."""
    made = begun()
    made.next(seen(50, cpu_ms=40))

    assert made.next(seen(50, rate=SLOW)) == (duty.EXACT, 0.05, False, 0)


def test_a_tight_loop_is_counted_in_windows() -> None:
    """The first one follows at once."""
    made = begun()
    made.next(seen(50, cpu_ms=50))

    assert made.next(seen(50, rate=TIGHT)) == (duty.THINNED, 0, False, duty.WINDOW_S)


def test_windows_are_so_far_apart_that_they_cost_what_was_granted() -> None:
    """A window of 0.5 ms each 0.1 s is 0.5 %."""
    made = thinned()

    assert made.next(seen(60_000, spent_us=500)).wait_s == 0.1


def test_what_was_spent_too_much_is_paid_back() -> None:
    """Right after the tight loop was found, more than the credit is gone."""
    made = thinned()

    assert made.left_ns(100 * MS) < 0
    assert made.next(seen(100, spent_us=500)).wait_s == duty.LONGEST_S


def test_each_fourth_window_is_a_census() -> None:
    """It tells whether the code has become cheap to count."""
    made = thinned()

    assert [made.next(seen(60_000 + n)).census for n in range(5)] == [False, False, False, True, False]


def test_code_that_became_cheap_is_counted_wholly_again() -> None:
    """Not by a single census: it may have been taken in a pause."""
    made = thinned()

    assert made.next(seen(1_000, rate=SLOW)).mode == duty.THINNED
    assert made.next(seen(2_000, rate=SLOW)).mode == duty.EXACT


def test_a_census_of_a_tight_loop_between_keeps_it_in_windows() -> None:
    """Cheap, dear, cheap."""
    made = thinned()

    assert [made.next(seen(t, rate=r)).mode for t, r in ((1, SLOW), (2, TIGHT), (3, SLOW))] == [duty.THINNED] * 3


def test_more_is_granted_with_a_greater_budget() -> None:
    """100,000 lines a second are 2 %: too much of 1 %, when the credit is gone, not of 5 %."""
    found = []
    for share in (0.01, 0.05):
        made = begun(share)
        made.next(seen(1_000, cpu_ms=1_000, spent_us=30_000))
        found.append(made.next(seen(1_000, rate=100_000)).mode)

    assert found == [duty.THINNED, duty.EXACT]
