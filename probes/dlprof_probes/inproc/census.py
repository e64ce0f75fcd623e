"""A count of the events of a thread, one by one, for some moments: how dear would it be to count its lines?

A trace function of Python sees what the line profiler's does, also where lines are not profiled, and ends by
itself after some events. It stands in the profiler's place: where all lines are counted it hands every event on, so
that the profiler misses none.
"""

import sys

from dlprof_probes.inproc.clock import now

EVENTS = 200
"""Events of a census, at most."""
_FRAMES = 30
"""Frames that run already, the innermost ones, whose lines are told too."""


class Census(object):
    """One census; `start` on the thread itself.

    Args:
        is_profiled: Function from a code object to whether its lines are counted.
        event_ns: What telling one event takes (ns).
        over: Called when it has ended by itself, on the thread, instead of the trace function.
        hand_on: The line profiler's trace function; None: it is not to be told.
    """

    def __init__(self, is_profiled, event_ns, over, hand_on=None):
        self.events = 0
        self.hits = 0
        """Those of them that are of profiled lines."""
        self.done = False
        self._is_profiled = is_profiled
        self._event_ns = event_ns
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
            self.hits += 1
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
        return self.events * self._event_ns

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


def cost_of_event():
    """What telling one event of a profiled line takes on this machine (ns); this thread must have no trace function."""
    bare = min(_loop() for _ in range(3))
    return max(50.0, min(_each_ns(bare) for _ in range(3)))


def _each_ns(bare_ns):
    """What telling an event of `_loop` takes now (ns)."""
    told = Census(lambda code: code is _loop.__code__, 0, lambda: None)
    told.start(None)
    taken = _loop()
    told.stop()
    return (taken - bare_ns) / float(max(1, told.events))


def _loop():
    start = now()
    for _ in range(50):
        pass
    return now() - start
