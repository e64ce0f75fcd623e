"""A count of the events of a thread, one by one, for some moments: how dear would it be to count its lines?

A trace function of Python sees what the line profiler's does, also where lines are not profiled, and ends by
itself after some events. It stands in the profiler's place: where all lines are counted it hands every event on, so
that the profiler misses none; where they are counted in windows it counts the hits of profiled lines itself.
"""

import collections
import sys

from dlprof_probes.inproc.clock import now

EVENTS = 200
"""Events of a census, at most."""
_FRAMES = 30
"""Frames that run already, the innermost ones, whose lines are told too."""

Price = collections.namedtuple("Price", ["event_ns", "hit_ns"])  # noqa: PYI024
"""What telling one event takes, and how much more one of a profiled line does (ns)."""


class Census(object):
    """One census; `start` on the thread itself.

    Args:
        is_profiled: Function from a code object to whether its lines are counted.
        price: `Price` of its events.
        over: Called when it has ended by itself, on the thread, instead of the trace function.
        hand_on: The line profiler's trace function; None: it is not to be told.
    """

    def __init__(self, is_profiled, price, over, hand_on=None):
        self.hits = {}
        """(code, line) to hits."""
        self.events = 0
        self.done = False
        self._is_profiled = is_profiled
        self._price = price
        self._over = over
        self._hand_on = hand_on
        self._start = self._end = 0

    def start(self, frame):
        """Begin; `frame` is the one that runs next."""
        for _ in range(_FRAMES):
            if frame is None:
                break
            if frame.f_trace is None or _is_census(frame.f_trace):
                frame.f_trace = self.tell
            frame = frame.f_back
        self._start = now()
        sys.settrace(self.tell)

    def tell(self, frame, event, arg):
        """The trace function."""
        if self.done:
            if self._hand_on is not None and sys.gettrace() is self._hand_on:
                self._hand_on(frame, event, arg)  # it ended as this event was on its way here
            if frame.f_trace is not None:
                frame.f_trace = None  # a frame that outlived the census
            return None
        self.events += 1
        if self._hand_on is not None:
            self._hand_on(frame, event, arg)
        if event == "line" and self._is_profiled(frame.f_code):
            place = frame.f_code, frame.f_lineno
            self.hits[place] = self.hits.get(place, 0) + 1
        if self.events >= EVENTS:
            frame.f_trace = None
            self.stop()
            return None
        return self.tell

    def stop(self):
        """End, on the thread."""
        if not self.done:
            self.done = True
            self._end = now()
            if sys.gettrace() == self.tell:
                sys.settrace(None)
            self._over()

    @property
    def own_ns(self):
        """What it cost (ns), by estimate."""
        return self.events * self._price.event_ns + sum(self.hits.values()) * self._price.hit_ns

    @property
    def bare_ns(self):
        """How long the program ran meanwhile, without what the census took of it (ns)."""
        return max(self._end - self._start - self.own_ns, 30 * self.events, 1)

    def rate(self, waited_ns=0):
        """Events per second of the program's own time.

        Args:
            waited_ns: Time of it before the census that belongs to what it did meanwhile (ns).
        """
        return self.events * 1e9 / (self.bare_ns + waited_ns)


def _is_census(trace):
    """Whether it is that of an earlier census, which the frame has outlived."""
    return isinstance(getattr(trace, "__self__", None), Census)


def price():
    """`Price` of a census on this machine; this thread must have no trace function."""
    bare = min(_loop() for _ in range(3))
    event_ns = _each_ns(lambda _code: False, bare)
    return Price(event_ns, max(0.0, _each_ns(lambda code: code is _loop.__code__, bare) - event_ns))


def _each_ns(is_profiled, bare_ns):
    """What telling an event of `_loop` takes (ns): the least of some tries."""
    best = None
    for _ in range(3):
        told = Census(is_profiled, Price(0, 0), lambda: None)
        told.start(None)
        taken = _loop()
        told.stop()
        each = (taken - bare_ns) / float(max(1, told.events))
        best = each if best is None else min(best, each)
    return max(50.0, best)


def _loop():
    start = now()
    for _ in range(50):
        pass
    return now() - start
