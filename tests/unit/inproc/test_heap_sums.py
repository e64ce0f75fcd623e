"""Sums of what memray recorded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc import heap_sums

TRAIN = ("step", "/home/me/train.py", 7)
MAIN = ("<module>", "/home/me/train.py", 20)
ZEROS = ("zeros", "/venv/lib/python3.11/site-packages/numpy/core.py", 40)


def interval(begin: int, end: int | None, size: int) -> SimpleNamespace:
    """Memory from before one snapshot to before another one."""
    return SimpleNamespace(allocated_before_snapshot=begin, deallocated_before_snapshot=end, n_bytes=size)


def record(*stack: tuple[str, str, int], size: int = 0, count: int = 0, intervals: Any = ()) -> SimpleNamespace:
    """A record of memray's; the innermost frame is the first."""
    return SimpleNamespace(
        stack_trace=lambda most: list(stack[:most]), size=size, n_allocations=count, intervals=list(intervals)
    )


class Reader:
    """A file of memray's with four snapshots, a second apart."""

    metadata = SimpleNamespace(total_allocations=12, peak_memory=900)

    def __init__(self, peak: list[SimpleNamespace], over_time: list[SimpleNamespace], snapshots: int = 4) -> None:
        self._peak, self._over_time = peak, over_time
        self._snapshots = [SimpleNamespace(time=1000 * number, heap=100 * number) for number in range(snapshots)]

    def get_memory_snapshots(self) -> Any:
        """What was held over time."""
        return iter(self._snapshots)

    def get_high_watermark_allocation_records(self, merge_threads: bool) -> Any:
        """What was held at the most."""
        assert merge_threads
        return iter(self._peak)

    def get_temporal_allocation_records(self, merge_threads: bool) -> Any:
        """What was held when."""
        assert merge_threads
        return iter(self._over_time)


def test_a_place_is_the_innermost_line_of_the_user_s_and_the_innermost_of_all() -> None:
    """Whatever lies between: two ways to the same place are one."""
    peak = [record(ZEROS, TRAIN, MAIN, size=500, count=2), record(ZEROS, ZEROS, TRAIN, MAIN, size=400, count=1)]

    (place,) = heap_sums.summed(Reader(peak, []))["places"]

    assert place["user"] == ("/home/me/train.py", 7, "step")
    assert place["at"] == (ZEROS[1], 40, "zeros")
    assert (place["peak_bytes"], place["peak_count"], place["places"]) == (900, 3, 1)


def test_threads_without_python_and_without_a_line_of_the_user_s_are_told_so() -> None:
    """A thread pool of an engine has no frame; an engine's own thread of Python has none of the user's."""
    places = heap_sums.summed(Reader([record(size=2), record(ZEROS, size=1)], []))["places"]

    assert [(place["user"], place["at"]) for place in places] == [(None, None), (None, (ZEROS[1], 40, "zeros"))]


def test_what_is_held_at_a_moment_was_taken_before_it_and_not_given_back() -> None:
    """At the snapshot before which it was given back it is gone."""
    over_time = [record(TRAIN, intervals=[interval(1, 3, 70), interval(2, None, 5)])]

    told = heap_sums.summed(Reader([], over_time))

    assert told["moments_wall_ns"] == [0, 10**9, 2 * 10**9, 3 * 10**9]
    assert told["places"][0]["held"] == [0, 70, 75, 5]
    assert told["peak_wall_ns"] == 3 * 10**9


def test_of_many_snapshots_some_are_kept_and_the_last_one_is() -> None:
    """Evenly spread."""
    told = heap_sums.summed(Reader([], [], snapshots=1000))["moments_wall_ns"]

    assert len(told) == 64
    assert (told[0], told[-1]) == (0, 999 * 10**9)


def test_small_places_are_one(monkeypatch: Any) -> None:
    """Their sum is kept, and how many they are."""
    monkeypatch.setattr(heap_sums, "_PLACES", 1)
    peak = [record(("f", "/home/me/train.py", line), size=10 * line, count=1) for line in (1, 2, 3)]

    largest, rest = heap_sums.summed(Reader(peak, []))["places"]

    assert largest["user"] == ("/home/me/train.py", 3, "f")
    assert (rest["user"], rest["peak_bytes"], rest["peak_count"], rest["places"]) == (None, 30, 2, 2)


def test_a_run_that_was_over_before_the_first_snapshot_has_its_peak_alone() -> None:
    """No moment, and no time of the peak."""
    told = heap_sums.summed(Reader([record(TRAIN, size=900, count=1)], [], snapshots=0))

    assert (told["peak_wall_ns"], told["moments_wall_ns"], told["places"][0]["held"]) == (None, [], [])
