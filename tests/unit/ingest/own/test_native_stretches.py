"""Stacks of an engine's threads, cut to when Python ran there."""

from __future__ import annotations

from dlprof.ingest.own.gone_threads import StackRow
from dlprof.ingest.own.native_stretches import NativeStretches, of_stream

PID = 42


def stretches(*rows: tuple[int, int, int, int], last_ns: int | None = None) -> NativeStretches:
    """Those of a process whose timeline begins at 1000."""
    return of_stream(rows, 1000, PID, last_ns)


def row(start: int, dur: int, stack: int = 0, thread: int = 7, name: str = "thread 7", pid: int = PID) -> StackRow:
    """A stack of a thread."""
    return StackRow(thread, name, start, dur, stack, pid)


def test_a_stack_stands_while_python_ran() -> None:
    """It seems to stand for 900 until the thread comes back; the call was over after 60, and a second one took 30."""
    cut, others = stretches((7, 1100, 1160, 60), (7, 1500, 1530, 30)).split([row(120, 900)])

    assert [(one.start, one.dur) for one in cut] == [(120, 40), (500, 30)]
    assert others == []


def test_of_calls_with_pauses_counts_what_ran() -> None:
    """A quarter of the stretch; half of it is in the row."""
    cut, _ = stretches((7, 1100, 1500, 100)).split([row(300, 900)])

    assert [(one.start, one.dur) for one in cut] == [(300, 50)]


def test_stacks_that_follow_each_other_share_a_stretch() -> None:
    """Each for as long as it stood in it."""
    cut, _ = stretches((7, 1000, 1100, 100)).split([row(0, 60, 1), row(60, 500, 2)])

    assert [(one.start, one.dur, one.stack) for one in cut] == [(0, 60, 1), (60, 40, 2)]


def test_other_threads_are_left_alone() -> None:
    """Those of which nothing was told, the main thread, and those of other processes."""
    rows = [row(0, 60, thread=8), row(0, 60, name="MainThread"), row(0, 60, pid=43)]

    assert stretches((7, 1000, 1010, 10)).split(rows) == ([], rows)


def test_a_stream_that_was_cut_says_nothing_of_what_came_after_it() -> None:
    """The process was killed; what the thread did after its last stretch is not known."""
    rows = [row(0, 50), row(200, 60)]

    cut, others = stretches((7, 1000, 1100, 100), last_ns=1100).split(rows)

    assert ([one.start for one in cut], [one.start for one in others]) == ([0], [200])


def test_a_stretch_that_lies_in_another_one_is_left_out() -> None:
    """It is damage: no time counts twice."""
    cut, _ = stretches((7, 1000, 1100, 100), (7, 1050, 1080, 30)).split([row(0, 200)])

    assert [(one.start, one.dur) for one in cut] == [(0, 100)]
