"""For how long the threads that phases are of ran."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.ingest.own.phase_thread_times import Counters, PhaseThreadTimes
from dlprof.schema.manifest import PhaseThread

WORKER = 501


def turn(start: int, end: int, system_id: int | None = WORKER) -> PhaseThread:
    """When a worker has the phases."""
    return PhaseThread(thread="worker", thread_id=7, system_id=system_id, start_ns=start, end_ns=end)


def counted(turns: Sequence[PhaseThread], *samples: tuple[int, int, int | None]) -> list[tuple[int | None, int | None]]:
    """Both counters at some moments: for how long the main thread ran by then, and the worker (None: not told).

    The main one waited for a fifth of that, the worker for a tenth.
    """
    times, told = PhaseThreadTimes(turns), []
    for moment, main, worker in samples:
        if worker is not None:
            times.take([[WORKER, worker, worker // 10], [99, 5000, 0]])
        told.append(times.at(moment, Counters(1000, 0, main, main // 5))[2:])
    return told


def test_without_turns_they_are_the_main_threads() -> None:
    """Whatever else ran."""
    assert counted([], (100, 80, 60), (200, 90, 160)) == [(80, 16), (90, 18)]


def test_in_a_turn_they_grow_as_the_other_thread_ran() -> None:
    """The main one ran for 2 meanwhile, which is not told."""
    assert counted([turn(100, 300)], (100, 80, 0), (200, 81, 90), (300, 82, 180), (400, 92, None)) == [
        (80, 16), (170, 25), (260, 34), (270, 36),
    ]  # fmt: skip


def test_where_a_turn_begins_between_two_samples_the_main_threads_part_is_by_time() -> None:
    """Half of what it ran there was before it; the worker's is all its own."""
    assert counted([turn(150, 300)], (100, 80, None), (200, 100, 30)) == [(80, 16), (120, 21)]


def test_no_more_runs_than_there_is_time() -> None:
    """Both ran while one handed over to the other: 50 of 100 and 80, with their waits."""
    ((_, _), (run, wait)) = counted([turn(150, 300)], (100, 0, None), (200, 100, 80))
    assert run is not None
    assert wait is not None
    assert (run + wait, run > wait) == (100, True)


def test_from_a_thread_on_that_the_system_has_no_number_for_nothing_is_known() -> None:
    """A Python before 3.8."""
    assert counted([turn(150, 180, system_id=None)], (100, 80, None), (200, 90, None), (300, 95, None)) == [
        (80, 16), (None, None), (None, None),
    ]  # fmt: skip


def test_a_sample_without_counters_stays_without() -> None:
    """They are read once a second."""
    assert PhaseThreadTimes([turn(0, 9)]).at(5, Counters(None, None, None, None)) == (None, None, None, None)


def test_turns_that_are_over_are_passed_by() -> None:
    """Two of them lie between two samples: the worker's growth is told once."""
    assert counted([turn(110, 120), turn(130, 140)], (100, 10, 0), (200, 10, 15), (300, 10, 15)) == [
        (10, 2), (25, 3), (25, 3),
    ]  # fmt: skip


def test_sums_over_all_threads_keep_what_one_did_that_has_ended() -> None:
    """It had run for 90 of 100 when it was last seen; 15 are left of the others, then 20."""
    times = PhaseThreadTimes([turn(0, 150)])
    times.take([[WORKER, 90, 9]])
    sums = [times.at(moment, Counters(run, 5, 10, 0))[:2] for moment, run in ((100, 100), (200, 15), (300, 20))]

    assert sums == [(100, 5), (105, 14), (110, 14)]


def test_sums_that_grow_are_as_they_are() -> None:
    """The thread goes on behind its turn."""
    times = PhaseThreadTimes([turn(0, 150)])
    times.take([[WORKER, 90, 9]])

    assert [times.at(moment, Counters(run, 5, 10, 0)).run for moment, run in ((100, 100), (200, 120))] == [100, 120]
