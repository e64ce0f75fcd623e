"""What kernel windows may cost: how many there are, and when one is long enough."""

from dlprof_probes.inproc.clock import now

LEAST_STEPS = 3
"""A window is not made shorter than this."""
_FAR = 4
"""Unless its first step has cost this many times what is granted: of thousands of operators one step tells enough."""
_WAVERING = 2
"""Standard deviations of plain steps by which one may be longer and no dearer: one that waits for input, say."""


class Affordable(object):
    """Compares what windows have cost with what the run can bear.

    The first window is always taken: without one nothing is known of kernels, nor of what a window costs.

    Args:
        share: Share of the wall time that windows may cost; None: no limit.

    Attributes:
        plain_ns: What a plain step takes on average; None: none was seen.
    """

    def __init__(self, share):
        self._share = share
        self._began = now()
        self._spent = 0
        self._taken = 0
        self._refused = set()
        self._cut = None
        self._since = self._last = 0
        self._steps = 0
        self._looks = 0
        self._squares = 0.0
        self.plain_ns = self._epoch = None
        self._ahead = 0

    def planned(self, steps):
        """The loop that runs now will have so many steps."""
        self._ahead = steps or 0

    def plain_step(self, end, count, compiled, epoch=None):
        """Steps outside of windows are over, at `end` (ns), in that epoch; what is between epochs is no step."""
        between, self._epoch = epoch != self._epoch, epoch
        if compiled or not self._since:
            self._since, self._steps, self._looks, self._squares = end, 0, 0, 0.0
            self._last = end
            return
        if between:
            self._since += end - self._last
            self._last = end
            return
        each, before, self._last = (end - self._last) / count, self.plain_ns, end
        self._steps += count
        self._looks += 1
        self.plain_ns = (end - self._since) / self._steps
        # Welford's way: sums of squares of times in ns would lose what differs.
        self._squares += (each - before) * (each - self.plain_ns) if self._looks > 1 else 0.0

    def another(self, kind):
        """Whether a window may begin now, in a loop of that kind."""
        if self._share is None or not self._taken:
            return True
        if self._spent * (1 + 1.0 / self._taken) <= self._share * (now() - self._began):
            self._refused.discard(kind)
            return True
        self._refused.add(kind)
        return False

    def is_enough(self, begin, end, steps, wanted):
        """Whether a window that began at `begin` (ns) ends after `steps` steps, at `end`; `wanted`: it was to have."""
        if steps >= wanted:
            return True
        if self._share is None or self.plain_ns is None:
            return False
        # As long as the run is known to be: what has passed, and the steps that are still to come.
        length = now() - self._began + self._ahead * self.plain_ns
        granted = self._share * length * (_FAR if steps < LEAST_STEPS else 1)
        wavering = _WAVERING * (steps * self._squares / max(1, self._looks - 1)) ** 0.5
        if self._spent + end - begin - steps * self.plain_ns - wavering <= granted:
            return False
        self._cut = (wanted, steps)
        return True

    def spent(self, switching, begin, end, steps):
        """A window is over; `switching` is what starting and ending its tracer took (ns).

        Gives by how much it made its steps longer (ns), as far as plain ones were seen.
        """
        slowed = max(0, int(end - begin - steps * self.plain_ns)) if self.plain_ns else 0
        self._taken += 1
        self._spent += switching + slowed
        self._since = 0
        return slowed

    def thinned(self):
        """What was left out, as a record has it; None: nothing was."""
        took = "windows took %.1f ms in %.1f s" % (self._spent / 1e6, (now() - self._began) / 1e9)
        if self._cut:
            return {"what": "steps of a kernel window", "from": self._cut[0], "to": self._cut[1], "why": took}
        if self._refused:
            whole = self._taken + len(self._refused)
            return {"what": "kernel windows", "from": whole, "to": self._taken, "why": took}
        return None
