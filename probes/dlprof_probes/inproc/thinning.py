"""Counts lines in windows where counting all of them would cost more than was granted (`duty` decides).

A thread of ours wakes now and then. It must not touch the trace function of another thread, so it asks the
main thread to do that: `Py_AddPendingCall` has the interpreter call us between two of its instructions, in a
loop that calls nothing as well. From Python 3.12 on there is no trace function: events of the profiled code
are asked for, and no longer, by the thread itself.

A window is shorter than the time after which Python has threads take turns, so that one is made shorter for
as long.
"""

import _thread
import resource
import sys
import time
from os import F_OK
from os import access as _access

from dlprof_probes.inproc import census, duty, line_cost, own_threads
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.pending_calls import PendingCall, raise_in

_getswitchinterval, _setswitchinterval = sys.getswitchinterval, sys.setswitchinterval
_getframe, _gettrace = sys._getframe, sys.gettrace
_sleep, _clock_gettime = time.sleep, time.clock_gettime
_clock_of = getattr(time, "pthread_getcpuclockid", None)
_getrusage, _RUSAGE_THREAD = resource.getrusage, getattr(resource, "RUSAGE_THREAD", None)
_native_id = getattr(_thread, "get_native_id", None)
_GONE_NS = 20 * 1000 * 1000
"""So long the kernel may take to end a thread that has nothing left to do."""
_SWITCH_S = 0.0001
"""Interval at which threads take turns while a window is open."""
_SWITCH_NS = 60 * 1000
"""What it costs a thread to hand its interpreter lock over and to get it back."""
_SPREAD_S = 0.006
"""Moments are spread over so long: more than the usual interval of turns, within which the program woke us. No longer,
for the program may ask for that interval meanwhile.
"""
_GOLDEN = 0.6180339887498949
"""Multiples of it are spread evenly over what is behind the point, however many they are."""
_CENSUS_S = 0.03
"""How long a census may take: where hardly a line runs, it is over then."""
_OPEN_S = 0.0005
_LONG_NS = 2 * duty.WINDOW_S * 1e9
"""A call that keeps us out for longer is where the program was when we came: no line was run there."""
_TELLING = 100
"""Hits that censuses must have seen before they tell how many other events there are for one."""
_LITTLE = 0.05
"""Share of the time that may pass in windows before hits that were counted outside of them are no whole any more."""


class Thinning(object):
    """Counts all the time, or in windows, the lines that `lines` has its profiler count.

    Args:
        lines: The line profiling; `lines.switch` turns it on and off.
        share: Share of the time that counting may cost.
        cost: `Cost` of an event.
        monitoring: Whether events are asked for per code, and by any thread.
        on_thinned: Called once, when the first stretch of windows begins.
    """

    def __init__(self, lines, share, cost, monitoring, on_thinned=lambda: None):
        self.mode = duty.EXACT
        self.spans = []
        """[begin, end] of the stretches in which lines were counted in windows; the last may have no end."""
        self.open_ns = self.counted_ns = self.events = self.windows = 0
        """CPU time of them, and of that the counted (both as without counting); events and windows in them."""
        self.census = None
        """The `Census` that runs, or has just ended; hot hooks ask whether there is one."""
        self.wanted = False
        """Whether lines are to be counted now: not while Keras or an import runs. Kept in a stretch only."""
        self.duty = duty.Duty(share, cost.event_ns, now())
        self._lines = lines
        self._cost = cost
        self._monitoring = monitoring
        self._on_thinned = on_thinned
        self._main = _thread.get_ident()
        self._wake = _thread.allocate_lock()
        self._wake.acquire()
        self._ended = _thread.allocate_lock()
        self._stopping = False
        self._task = None
        self._asked = None, 0, 0
        """What the main thread is to do, and its wall and CPU time (ns) when it was asked to."""
        self._moments = 0
        self._late_ns = self._late_cpu_ns = self._held_ns = 0
        self._done = _thread.allocate_lock()
        self._done.acquire()
        self._since = self._window = 0
        self._hits = 0
        self._spent_ns = 0
        self._open = [0, 0]
        self._begun = {}
        """(code, line) to hits of lines in which windows ended: the profiler counts a line when the next one begins."""
        self._all_events = self._profiled_events = 1
        self._hits_before = 0
        self._clock = None
        self._pending = None

    # On the thread of ours

    def start(self):
        """Begin to look.

        Raises:
            Exception: There is no way to reach the main thread, or to read its clock.
        """
        if not self._monitoring:
            self._pending = PendingCall(self._do_asked)
        if _clock_of is None:
            raise NotImplementedError("this Python does not tell the CPU time of a thread")
        self._clock = _clock_of(self._main)
        self._stopping = False
        self._hits_before = self._lines.hits()
        self._wake.acquire(False)
        self._ended.acquire()
        own_threads.start(self._run)

    def stop(self, wait_s=0):
        """Look no more; waits up to so long for the thread to end, and to be gone for the kernel, too."""
        self._stopping = True
        if self._wake.locked():
            self._wake.release()
        if wait_s and self._ended.acquire(True, wait_s):
            self._ended.release()
            until = now() + _GONE_NS
            while self._task and _access(self._task, F_OK) and now() < until:
                _sleep(0.0001)

    def _run(self):
        self._task = "/proc/self/task/%d" % _native_id() if _native_id is not None else None
        try:
            self._look()
        except Exception:
            self._stopping = True
        finally:
            self._ended.release()

    def _look(self):
        plan = self.duty.first()
        cpu = _clock_gettime(self._clock)
        while True:
            due, waits = now() + int(plan.wait_s * 1e9), _waits()
            if (plan.wait_s and self._wake.acquire(True, plan.wait_s)) or self._stopping:
                return
            self._held_ns = self._held_since(due, waits)
            before, self._spent_ns = self._spent_ns, 0
            rate = self._sample(plan)
            earlier, cpu = cpu, _clock_gettime(self._clock)
            taxed = int((cpu - earlier) * 1e9) if self.mode == duty.EXACT and self._lines.counts_now() else 0
            mode = self.duty.mode
            plan = self.duty.next(duty.Seen(now(), taxed, rate, self._spent_ns + before))
            self._spent_ns = 0
            if plan.mode != mode:
                self._ask(self._thin if plan.mode == duty.THINNED else self._all)

    def _sample(self, plan):
        """Take the census, or open the window, that a plan has; gives the rate that a census told."""
        if not (self.mode == duty.THINNED and (plan.census or plan.window_s)):
            return self._take_census() if plan.census else None
        with _ShortTurns():
            self._wait_for_any_moment()
            rate = self._take_census() if plan.census else None
            if plan.window_s:
                self._open_window(plan.window_s)
        return rate

    def _wait_for_any_moment(self):
        """Wait for a moment that the program has no part in.

        We woke when it let the interpreter go: within the interval of turns that is where it calls an operation which
        does so itself, and lines behind such calls would be met far more often than they run. Turns are short now.
        """
        self._moments += 1
        seconds = _SPREAD_S * (self._moments * _GOLDEN % 1)
        due, waits = now() + int(seconds * 1e9), _waits()
        _sleep(seconds)
        self._held_ns = self._held_since(due, waits)

    @staticmethod
    def _held_since(due, waits):
        """For how long a call of the program kept the interpreter lock from us.

        Python has threads take turns, which is no call. Nor is it one that we got no core: who waits for the lock wakes
        at each turn to ask for it, and so waits anew as often as there were turns.

        Args:
            due: When we were to wake (ns).
            waits: `_waits` before we slept.
        """
        turn_ns = _getswitchinterval() * 1e9
        late = max(0, now() - due - int(turn_ns))
        if _RUSAGE_THREAD is None:
            return late
        # One wait was the sleep; a turn lasts longer than it was asked to.
        return min(late, int(2 * turn_ns * max(0, _waits() - waits - 1)))

    def _was_in_a_call(self):
        """Whether the program stood in a long call when we came: what it does right after that is no sample."""
        return max(self._late_ns, self._held_ns) > _LONG_NS

    def _open_window(self, seconds):
        """A window, on the main thread."""
        self._ask(self._begin_window)
        if not self._window:
            return
        try:
            with _ShortTurns():
                _sleep(seconds)
        finally:
            self._ask(self._end_window)

    def _take_census(self):
        """Events per second of the thread; None: nothing was counted then.

        While all lines are counted these are the hits since the last census, which tells how many other events there
        are for each: what a moment tells is not so, where lines come in bursts between long calls.
        """
        rate = self._momentary_rate()
        if self.mode != duty.EXACT:
            return rate
        hits, before = self._lines.hits(), self._hits_before
        self._hits_before = hits
        counted_ns = self.duty.bounded_ns
        if rate is None or not counted_ns or not (self._monitoring or self._profiled_events > _TELLING):
            return rate
        events = (hits - before) * (1.0 if self._monitoring else self._all_events / float(self._profiled_events))
        return events * 1e9 / max(counted_ns - events * self._cost.event_ns, events * self._cost.least_ns, 1)

    def _momentary_rate(self):
        if self._monitoring or (self.mode == duty.EXACT and self._lines.trace_function() is None):
            return self._rate_of_hits()
        self._ask(self._begin_census)
        for wait in (_CENSUS_S / 4, _CENSUS_S):
            _sleep(wait)
            if self.census is not None and self.census.done:
                break
        self._ask(self.end_census)
        told = self.census
        self.census = None
        if told is None or not told.done:
            return None
        # The call that it stood in belongs to what it does; alone, the lines after a call would seem to be all of it.
        waited = max(self._late_ns, self._held_ns) if self._was_in_a_call() else 0
        return told.rate(waited)

    def _rate_of_hits(self):
        """Hits per second of the program's own time, since the last look."""
        hits, start = self._lines.hits(), now()
        if self.mode == duty.EXACT:
            _sleep(_CENSUS_S / 4)
        else:
            self._open_window(_OPEN_S)
        taken, count = now() - start, self._lines.hits() - hits
        return count * 1e9 / max(taken - count * self._cost.event_ns, count * self._cost.least_ns, 1)

    def _ask(self, what):
        """Have `what` done where lines are counted, and wait for that; returns whether it was.

        With `sys.monitoring` that is on any thread, else on the main one.
        """
        if self._monitoring:
            what()
            return True
        return self._ask_main(what)

    def _ask_main(self, what):
        """Have `what` done on the main thread, and wait for that; returns whether it was.

        Never is a second call asked for before the first is over, to its last instruction: Python 3.11 does not come
        out of a function that it enters under a trace function, in a pending call, while another one waits.
        """
        while not (self._pending.is_over() or self._stopping):
            _sleep(duty.WINDOW_S)
        self._asked = what, now(), self._cpu_ns()
        while not self._stopping and not self._pending.add():
            _sleep(duty.SHORTEST_S)
        while not self._stopping:
            if self._done.acquire(True, 1):
                self._hand_on()
                return True
        return False

    def _hand_on(self):
        """Raise in the program what its own handler of a signal raised while a call of ours ran."""
        error, self._pending.raised = self._pending.raised, None
        if error is not None:
            _sleep(0.001)  # the call itself is over then
            raise_in(self._main, error)

    # On the main thread, between two instructions of the program

    def _do_asked(self):
        start = now()
        (what, at, cpu), self._asked = self._asked, (None, 0, 0)
        try:
            if what is not None and not self._stopping:
                self._late_ns, self._late_cpu_ns = start - at, self._cpu_ns() - cpu
                what()
        finally:
            self._spent_ns += now() - start + _SWITCH_NS
            if self._done.locked():
                self._done.release()

    def _thin(self):
        """From here on, lines are counted in windows."""
        self._lines.tally.exact()
        self.wanted = self._lines.counts_now()
        self._lines.switch(False)
        self.mode = duty.THINNED
        self._open = [0, 0]
        self._hits = self._lines.hits()
        self._since = self._cpu_ns()
        if not self.spans:
            self._on_thinned()
        self.spans.append([now(), None])
        self._touch()

    def _all(self):
        """From here on, all lines are counted."""
        self._touch()
        self._end_window()
        self.settle()
        self.spans[-1][1] = now()
        self.mode = duty.EXACT
        self._hits_before = self._lines.hits()
        if self.wanted:
            self._lines.switch(True)

    def _touch(self):
        """Have the functions remembered that the main thread is in: by itself, as its frames are no other thread's."""
        if _thread.get_ident() == self._main:
            self._touch_own()
            return
        try:
            self._pending = self._pending or PendingCall(self._do_asked)
        except Exception:  # without ctypes, say: less is known of where the time of a line went
            return
        self._ask_main(self._touch_own)

    def _touch_own(self):
        self._lines.touch(_getframe())

    def settle(self):
        """Add up what the windows since the last time have counted; the stretch goes on."""
        if _thread.get_ident() == self._main:
            self._end_window()  # what it took is to be subtracted from the very time that is settled here
        self.pause_clock()
        opened, counted = self._open
        opened = max(opened, counted)  # off the main thread a window may be open
        more = [(self._lines.key(code) + (line,), n) for (code, line), n in self._begun.items()]
        self._lines.tally.windows(
            float(opened) / counted if counted else None, [((key[:3], key[3]), n) for key, n in more]
        )
        self._begun = {}
        self._open = [0, 0]

    def is_mostly_exact(self):
        """Whether windows replaced so little of the counting that what no window met can be told by the rest."""
        return self.open_ns <= _LITTLE * (self.open_ns + self.duty.exact_ns)

    def pause_clock(self):
        """Take the time of the stretch up to now."""
        if self.mode == duty.THINNED:
            at = self._cpu_ns()
            if self.wanted:
                passed = max(0, at - self._since)
                self._open[0] += passed
                self.open_ns += passed
            self._since = at

    def pause(self):
        """Keras or an import begins; returns whether lines were to be counted."""
        if not self.wanted:
            return False
        self._end_window()
        self.end_census()
        self.pause_clock()
        self.wanted = False
        # What was asked for may have begun since: from here on nothing does.
        self._end_window()
        self.end_census()
        return True

    def go_on(self):
        """That is over."""
        if not self.wanted:
            self.wanted = True
            self._since = self._cpu_ns()

    def _cpu_ns(self):
        """CPU time of the main thread (ns): where that waits, for whatever, no line is run."""
        return int(_clock_gettime(self._clock) * 1e9)

    def _begin_window(self):
        if self.mode != duty.THINNED or not self.wanted or self._window:
            return
        if self._was_in_a_call():
            self._count_no_hits()
            return
        self._hits = self._lines.hits() + (line_cost.LINES if self._cost.counted is not None else 0)
        self._cost.bare()
        if self._lines.switch(True):
            self._cost.again()
            self._window = self._cpu_ns()

    def _end_window(self):
        # In one go: what was asked for may come in between any two calls, and it may be this very end.
        begun, self._window = self._window, 0
        if not begun:
            return
        begun_lines = self._lines.end_window()
        taken = self._cpu_ns() - begun
        for place in begun_lines:
            self._begun[place] = self._begun.get(place, 0) + 1
        hits = self._lines.hits() - self._hits + len(begun_lines)
        events = hits * (1.0 if self._monitoring else self._all_events / float(self._profiled_events))
        bare = max(taken - events * self._cost.event_ns, events * self._cost.least_ns)
        if events * self._cost.event_ns < taken / 2:
            bare = min(bare, duty.WINDOW_S * 1e9)  # it ended late, after a long call
        self._count(bare, hits, taken - bare)
        self._spent_ns += int(taken - bare) + (_SWITCH_NS if self._monitoring else 0)

    def _count_no_hits(self):
        """A call took longer than the window: not a line was run in that, nor perhaps anything, if the call waited."""
        most = duty.WINDOW_S * 1e9
        self._count(most if self._held_ns > _LONG_NS else min(most, self._late_cpu_ns), 0, 0)

    def _count(self, bare_ns, hits, lost_ns):
        # The program came so far meanwhile as it would have in `bare_ns`; the stretch is as long as if it had.
        self._open[0] -= lost_ns
        self.open_ns -= lost_ns
        self._open[1] += bare_ns
        self.counted_ns += bare_ns
        self.events += hits
        self.windows += 1

    def _begin_census(self):
        self.census = None
        thinned = self.mode == duty.THINNED
        if not (self.wanted if thinned else self._lines.counts_now()):
            return
        each, hand_on = self._cost.told_ns, None
        if not thinned:
            each, hand_on = each + self._cost.event_ns, self._lines.trace_function()
        # Between windows nothing is to be switched off: there is only to be no trace function of the program's own.
        if _gettrace() is None if thinned else self._lines.switch(False):
            self.census = census.Census(self._lines.is_profiled, each, self._over, hand_on)
            self.census.start(_getframe())

    def end_census(self):
        """End the census that runs, if one does; all lines are counted again then, where they were before."""
        if self.census is not None:
            self.census.stop()

    def in_census(self):
        """Whether one runs."""
        return self.census is not None and not self.census.done

    def _over(self):
        """A census ended. While all lines are counted the profiler has its hits; else it tells the rate, and no hits.

        Of code that runs many lines it takes far longer than they do by themselves, so that it cannot be said how much
        of its time was theirs.
        """
        told = self.census
        self._all_events += told.events
        self._profiled_events += told.hits
        self._spent_ns += int(told.own_ns)
        if self.mode == duty.THINNED:
            self._open[0] -= told.own_ns
            self.open_ns -= told.own_ns
        elif self._lines.counts_now() is False:
            self._lines.switch(True)


def _waits():
    """How often this thread has waited so far; 0 where the system does not tell."""
    return _getrusage(_RUSAGE_THREAD).ru_nvcsw if _RUSAGE_THREAD is not None else 0


class _ShortTurns(object):
    """Threads take turns far more often meanwhile; not restored where the program has set it itself since.

    Where they do so already, as inside of another one of these, nothing is set: Python keeps whole microseconds, so
    that what it gives comes back a microsecond less, and would be taken for an interval of the program's own.
    """

    def __enter__(self):
        self._short, self._usual = None, _getswitchinterval()
        if self._usual > _SWITCH_S:
            _setswitchinterval(_SWITCH_S)
            self._short = _getswitchinterval()

    def __exit__(self, *_error):
        if self._short is not None and _getswitchinterval() == self._short:
            _setswitchinterval(self._usual)
