"""What counting a line costs: measured when counting begins, and again in each window, on the machine as it is then."""

import types

from dlprof_probes.inproc import census
from dlprof_probes.inproc.clock import now

_TURNS = 30
LINES = 3 * _TURNS + 2
"""Lines that the loop runs: as many by every Python, for it has no line without an instruction."""
_AGAIN = 5


def _loop(turns):
    i = 0
    while i < turns:
        _rest = i % 7
        i += 1


FILE = _loop.__code__.co_filename
"""The file of the loop, as a profiler names it."""


class Cost(object):
    """What an event costs.

    Args:
        event_ns: By the line profiler (ns).
        told_ns: By a census (ns).
        least_ns: What a line takes by itself at least (ns).
    """

    def __init__(self, event_ns, told_ns, least_ns):
        self.event_ns = event_ns
        self.told_ns = told_ns
        self.least_ns = least_ns
        self._seen = []
        self._bare_ns = 0
        self.counted = None
        """The loop as a profiler counts it."""

    def bare(self):
        """Run the loop while nothing is counted."""
        self._bare_ns = _taken(_loop)

    def again(self):
        """Run it while lines are counted: that is what an event costs now; the median of the last windows counts."""
        if self.counted is None:
            return
        each = (_taken(self.counted) - self._bare_ns) / float(LINES)
        self._seen = self._seen[-14:] + [max(10.0, each)]
        self.event_ns = sorted(self._seen)[len(self._seen) // 2]

    def count_by(self, profiler):
        """Have `profiler` count the loop; returns its code."""
        self.counted = _copy()
        profiler.add_function(self.counted)
        return self.counted.__code__


def measured(make):
    """`Cost` of an event: a small loop with and without a profiler of its own; the fastest of some tries counts.

    Args:
        make: Makes a `line_profiler.LineProfiler`.
    """
    bare = min(_taken(_loop) for _ in range(_AGAIN))
    told = census.cost_of_event()
    profiler, counted = make(), _copy()
    profiler.add_function(counted)
    profiler.enable()
    try:
        taken = min(_taken(counted) for _ in range(_AGAIN))
    finally:
        profiler.disable()
    return Cost(max(10.0, (taken - bare) / float(LINES)), told, bare / float(LINES))


def _copy():
    return types.FunctionType(_loop.__code__, {}, "_loop")


def _taken(loop):
    start = now()
    loop(_TURNS)
    return now() - start
