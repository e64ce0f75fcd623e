"""Counting in windows: what the main thread is asked for, with a profiler that stands in."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import duty, thinning
from dlprof_probes.inproc.thinning import Thinning

MS = 1_000_000


class Lines:
    """Line profiling that counts what it is told to."""

    def __init__(self) -> None:
        self.on = True
        self.count = 0
        self.begun: list[Any] = []
        self.scaled: list[Any] = []
        self.told: list[Any] = []
        self.touched: list[int] = []
        self.functions: set[str] = set()
        self.tally = SimpleNamespace(
            exact=lambda: None,
            windows=lambda factor, more: self.scaled.append((factor, self.count + sum(n for _, n in more))),
        )

    def counts_now(self) -> bool:
        return self.on

    def switch(self, on: bool) -> bool:
        changed, self.on = self.on != on, on
        return changed

    def end_window(self) -> list[Any]:
        self.switch(False)
        return self.begun

    def hits(self) -> int:
        return self.count

    def trace_function(self) -> Any:
        return lambda *event: self.told.append(event)

    def is_profiled(self, _code: Any) -> bool:
        return True

    def key(self, code: Any) -> Any:
        return code.co_filename, code.co_firstlineno, code.co_name

    def touch(self, frame: Any) -> None:
        self.touched.append(_thread.get_ident())
        while frame is not None:
            self.functions.add(frame.f_code.co_name)
            frame = frame.f_back


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Windows over a clock of CPU time that the test sets; an event costs 200 ns."""
    cost = SimpleNamespace(event_ns=200, told_ns=1000, least_ns=20, counted=None, bare=int, again=int)
    lines = Lines()
    result: Any = Thinning(lines, 0.005, cost, False)
    result.lines, result.cpu = lines, 100 * MS
    monkeypatch.setattr(result, "_cpu_ns", lambda: result.cpu)
    return result


def test_a_stretch_of_windows_begins_with_counting_off(made: Any) -> None:
    """And with its time on record."""
    made._thin()

    assert (made.mode, made.lines.on, made.wanted) == (duty.THINNED, False, True)
    assert made.spans[0][1] is None


@pytest.mark.parametrize("monitoring", [False, True])
def test_the_main_thread_itself_looks_at_its_frames(made: Any, monitoring: bool) -> None:
    """Also where another thread has counting thinned, as from Python 3.12 on: frames of a thread that runs are not safe."""
    made._monitoring = monitoring
    if monitoring:
        _thread.start_new_thread(made._thin, ())
    else:
        made._thin()
    end = time.monotonic() + 30
    while not made.lines.touched and time.monotonic() < end:
        pass

    assert made.lines.touched == [_thread.get_ident()]
    assert "test_the_main_thread_itself_looks_at_its_frames" in made.lines.functions


def test_hits_of_a_window_are_scaled_by_bare_time(made: Any) -> None:
    """In 1 ms of a window 4,000 hits took 0.8 ms of counting: 0.2 ms of the program; the stretch is 20.2 ms of it."""
    made._thin()
    made._begin_window()
    made.cpu = 101 * MS
    made.lines.count = 4_000
    made._end_window()
    made.cpu = 121 * MS
    made.settle()

    assert made.lines.scaled == [(101.0, 4_000)]
    assert (made.windows, made.events, made.counted_ns) == (1, 4_000, 200_000)


def test_a_line_that_a_window_ends_in_was_hit(made: Any) -> None:
    """The profiler counts it when the next one begins: where that is behind the window it would be lost."""
    made._thin()
    for _ in range(2):
        made._begin_window()
        made.lines.begun = [(Lines.hits.__code__, 7)]
        made._end_window()
    made.settle()

    assert [hits for _, hits in made.lines.scaled] == [2]
    assert made.events == 2


def test_a_window_that_is_ended_while_it_ends_is_ended_once(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What our thread asked for comes in the middle of what Keras' begin did: it took 1 ms, not all CPU time so far."""
    made._thin()
    made._begin_window()
    made.cpu = 101 * MS
    switch = made.lines.switch

    def interrupted(on: bool) -> bool:
        monkeypatch.setattr(made.lines, "switch", switch)
        made._end_window()
        return bool(switch(on))

    monkeypatch.setattr(made.lines, "switch", interrupted)
    made.pause()

    assert (made.windows, made._spent_ns) == (1, 0.5 * MS)
    assert made.open_ns == 0.5 * MS


def test_a_window_that_begins_while_keras_does_is_over_at_once(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was asked for when lines were still wanted."""
    made._thin()
    pause_clock = made.pause_clock

    def interrupted() -> None:
        pause_clock()
        made._begin_window()

    monkeypatch.setattr(made, "pause_clock", interrupted)
    made.pause()

    assert (made.lines.on, made._window, made.wanted) == (False, 0, False)


def test_what_is_settled_while_a_window_is_open_has_all_of_its_time(made: Any) -> None:
    """The window took 30 of 50 ms, behind a long call: half a millisecond of it counts, and so do 20 ms more."""
    made._thin()
    made._begin_window()
    made.cpu += 30 * MS
    made.lines.count = 10
    made.settle()
    made.cpu += 20 * MS
    made._end_window()
    made.settle()

    assert made.lines.scaled[0] == (1.0, 10)
    assert made.open_ns == 20.5 * MS


def test_a_window_that_began_after_a_long_call_saw_no_line(made: Any) -> None:
    """It counts as time without a hit: else what follows long calls would be seen too often."""
    made._thin()
    made._late_ns = made._late_cpu_ns = 50 * MS
    made._begin_window()

    assert (made.lines.on, made.windows, made.events, made.counted_ns) == (False, 1, 0, 0.5 * MS)


def test_a_window_in_a_call_that_waits_saw_as_little_time_as_that_takes(made: Any) -> None:
    """In `time.sleep` no CPU time passes, by which hits are scaled: 15 million were told as 1 to 4 million before."""
    made._thin()
    made._late_ns, made._late_cpu_ns = 50 * MS, 0.02 * MS
    made._begin_window()

    assert (made.windows, made.events, made.counted_ns) == (1, 0, 0.02 * MS)


def test_the_cpu_time_of_what_was_late_is_the_main_thread_s(made: Any) -> None:
    """From when it was asked for to when it is done."""
    made._asked = lambda: None, time.monotonic_ns(), 95 * MS
    made._do_asked()

    assert made._late_cpu_ns == 5 * MS


def test_a_window_after_a_call_that_held_the_interpreter_saw_no_line(made: Any) -> None:
    """Our thread could not even ask while it went on, as in `gc.collect()`."""
    made._thin()
    made._held_ns = 50 * MS
    made._begin_window()

    assert (made.lines.on, made.windows, made.events, made.counted_ns) == (False, 1, 0, 0.5 * MS)


def test_samples_are_taken_at_moments_that_the_program_has_no_part_in(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """False before: a line behind an operation that lets the interpreter go was met 5 to 10 times too often.

    Each waits for another part of 6 ms, while threads take turns more often than before and after.
    """
    made._thin()
    slept: list[tuple[float, bool]] = []
    usual = sys.getswitchinterval()
    monkeypatch.setattr(thinning, "_sleep", lambda seconds: slept.append((seconds, sys.getswitchinterval() < usual)))
    monkeypatch.setattr(made, "_ask", lambda _what: True)
    for _ in range(3):
        made._sample(duty.Plan(duty.THINNED, 0, False, 0.0005))

    assert [round(seconds * 1000, 1) for seconds, _ in slept] == [3.7, 1.4, 5.1]
    assert all(short for _, short in slept)
    assert sys.getswitchinterval() == usual


def test_turns_are_as_long_as_before_behind_a_window(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of one around another: Python keeps whole microseconds, and gives another number than it was given."""
    made._thin()
    usual = sys.getswitchinterval()
    within: list[bool] = []
    monkeypatch.setattr(thinning, "_sleep", lambda _seconds: within.append(sys.getswitchinterval() < usual))
    monkeypatch.setattr(made, "_ask", lambda _what: setattr(made, "_window", 1))
    made._sample(duty.Plan(duty.THINNED, 0, False, 0.0005))

    assert within == [True, True]
    assert sys.getswitchinterval() == usual


def test_turns_that_the_program_changes_meanwhile_stay_its_own(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asked for them after us."""
    made._thin()
    usual = sys.getswitchinterval()
    monkeypatch.setattr(thinning, "_sleep", lambda _seconds: sys.setswitchinterval(0.002))
    monkeypatch.setattr(made, "_ask", lambda _what: True)
    try:
        made._sample(duty.Plan(duty.THINNED, 0, False, 0.0005))

        assert sys.getswitchinterval() == 0.002
    finally:
        sys.setswitchinterval(usual)


def test_a_census_of_all_lines_is_taken_at_once(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each moment until then is counted, at its price."""
    monkeypatch.setattr(made, "_wait_for_any_moment", lambda: pytest.fail("it waited"))
    monkeypatch.setattr(made, "_take_census", lambda: 7.0)

    assert made._sample(duty.Plan(duty.EXACT, 0, True, 0)) == 7.0


def test_waiting_for_a_turn_is_no_call(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 30 ms after the time to wake 5 are Python's turn."""
    monkeypatch.setattr(thinning, "now", lambda: 130 * MS)
    monkeypatch.setattr(thinning, "_getswitchinterval", lambda: 0.005)
    monkeypatch.setattr(thinning, "_waits", lambda: 7)

    assert (made._held_since(100 * MS, 0), made._held_since(127 * MS, 0)) == (25 * MS, 0)


def test_waiting_for_a_core_is_no_call(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits 4 ms for the lock asks for it at each turn of 0.1 ms; who gets no core sleeps, and is late."""
    monkeypatch.setattr(thinning, "now", lambda: 104 * MS)
    monkeypatch.setattr(thinning, "_getswitchinterval", lambda: 0.0001)
    monkeypatch.setattr(thinning, "_waits", lambda: 31)

    assert (made._held_since(100 * MS, 0), made._held_since(100 * MS, 30)) == (3.9 * MS, 0)


def test_the_rate_of_a_census_after_a_long_call_is_that_of_both(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """20 events in 1 ms, after 99 ms of a call: 200 a second, not 20,000."""
    told = SimpleNamespace(rate=lambda waited_ns: 20 * 1e9 / (MS + waited_ns), done=True)
    made._held_ns = 99 * MS
    monkeypatch.setattr(made, "_ask", lambda _what: setattr(made, "census", told))
    monkeypatch.setattr(thinning, "_sleep", lambda _seconds: None)

    assert made._take_census() == 200


def test_while_keras_runs_there_are_no_windows_and_no_time_passes(made: Any) -> None:
    """The time of the stretch is that in which lines are wanted."""
    made._thin()
    made.cpu = 105 * MS
    assert made.pause() is True
    made.cpu = 200 * MS
    made._begin_window()
    assert made.lines.on is False
    made.go_on()
    made.cpu = 202 * MS
    made.pause_clock()

    assert made.open_ns == 7 * MS


def test_pauses_nest(made: Any) -> None:
    """The inner one found it paused."""
    made._thin()

    assert (made.pause(), made.pause()) == (True, False)


def test_counting_all_again_ends_the_stretch(made: Any) -> None:
    """With counting on."""
    made._thin()
    made._all()

    assert (made.mode, made.lines.on, made.spans[0][1] is None) == (duty.EXACT, True, False)


def test_a_census_counts_nothing_itself_where_all_lines_are_counted(made: Any) -> None:
    """It tells the profiler, which counts them as it does all others."""
    before = sys.gettrace()
    sys.settrace(None)
    try:
        made._begin_census()
        len("a line")
        made.end_census()
    finally:
        sys.settrace(before)

    assert made.lines.told
    assert (made._begun, made.lines.on) == ({}, True)


def test_while_all_lines_are_counted_their_hits_tell_the_rate(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A census in a burst saw a million a second; since the last one there were 1,000 hits, of 4 events each, in 0.5 s."""
    monkeypatch.setattr(made, "_momentary_rate", lambda: 1e6)
    made._all_events, made._profiled_events = 4_000, 1_000
    made.lines.count, made._hits_before = 3_000, 2_000
    made.duty.bounded_ns = 500 * MS

    assert made._take_census() == pytest.approx(4_000 / (0.5 - 4_000 * 200e-9))
    assert made._hits_before == 3_000


def test_where_windows_took_a_twentieth_of_the_time_the_rest_is_no_whole(made: Any) -> None:
    """What was counted all the time may have run between windows as well."""
    made.duty.exact_ns = 95 * MS
    made.open_ns = 5 * MS
    before = made.is_mostly_exact()
    made.open_ns = 6 * MS

    assert (before, made.is_mostly_exact()) == (True, False)


@pytest.fixture
def untraced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A program without a trace function: tests may have one, which sees what they cover."""
    before = sys.gettrace()
    monkeypatch.setattr(thinning, "_gettrace", lambda: None)
    yield
    sys.settrace(before)


@pytest.mark.usefixtures("untraced")
def test_between_windows_there_are_censuses_too(made: Any) -> None:
    """Else nobody would see that the code has become cheap to count.

    Its time is that of telling events, far more than of running lines: its hits over that are no rate to scale by.
    """
    made._thin()
    made._begin_census()
    len("a line")
    made.end_census()

    assert made.census.done
    assert made.census.hits > 0
    assert (made.windows, made.events, made.counted_ns, made._begun) == (0, 0, 0, {})
    assert made.open_ns == -made.census.own_ns


_ALL = "SigBlk:\tfffffffe7ffbfeff"
"""All but SIGKILL, SIGSTOP and two of the C library's."""


def test_our_thread_takes_no_signal(made: Any) -> None:
    """One that the program blocks would go to it instead, and end the program; the program's own mask is as before."""
    before, mask = set(os.listdir("/proc/self/task")), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    made.start()
    try:
        [ours] = set(os.listdir("/proc/self/task")) - before
        deadline = time.monotonic() + 5  # a thread that has just begun may not have come so far
        while (
            _ALL not in (status := Path(f"/proc/self/task/{ours}/status").read_text()) and time.monotonic() < deadline
        ):
            time.sleep(0.01)
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask
    finally:
        made.stop(10)

    assert [line for line in status.splitlines() if line.startswith("SigBlk")] == [_ALL]


def test_a_thread_that_was_waited_for_is_gone_for_the_kernel_too(made: Any) -> None:
    """Python 3.12 counts those of the kernel when a program forks."""
    before = set(os.listdir("/proc/self/task"))
    made.start()
    during = set(os.listdir("/proc/self/task"))

    made.stop(10)

    assert len(during - before) == 1
    assert not (during - before) & set(os.listdir("/proc/self/task"))
