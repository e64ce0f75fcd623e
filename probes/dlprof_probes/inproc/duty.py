"""When lines are counted, so that counting stays within its budget: decisions alone; time and figures are given.

Counting goes on all the time (`EXACT`) as long as that is cheap, which it is for code that runs few lines a
second. Where it is not, lines are counted in short windows (`THINNED`), so far apart that what they cost is
the share of the time that was granted. How dear counting is, is known in two ways: from the CPU time that the
thread took while its lines were counted, which bounds it for nothing; and, where that bound is too high, from
a census: for some moments all events of the thread are told one by one, which gives their rate.
"""

import collections

EXACT = "exact"
THINNED = "thinned"

CREDIT_NS = 20 * 10**6
"""What counting may cost before any time has passed: short scripts are counted wholly."""
MOST = 0.85
"""Share of a thread's time that is our own at most, while it is counted in the cheapest of lines."""
LOOK_S = 0.05
"""How often a thread is looked at while its lines are all counted."""
FIRST_LOOK_S = 0.015
IDLE_S = 0.1
"""How often while none are, because Keras or an import runs."""
WINDOW_S = 0.0005
"""How long a window is."""
SHORTEST_S = 0.025
LONGEST_S = 1.0
"""Between two windows, at least and at most."""
CENSUS_EACH = 4
"""Each so many windows, one is a census: has the code become cheap to count?"""

Seen = collections.namedtuple("Seen", ["now_ns", "taxed_cpu_ns", "rate", "spent_ns"])  # noqa: PYI024
"""What was found since the last plan.

`now_ns`: the time. `taxed_cpu_ns`: CPU time of the thread while its lines were counted. `rate`: events per second of a
census; None: there was none. `spent_ns`: what windows and censuses cost.
"""
Plan = collections.namedtuple("Plan", ["mode", "wait_s", "census", "window_s"])  # noqa: PYI024
"""What to do next: in which mode to be, how long to wait, and whether a census or a window follows (0: none)."""


class Duty(object):
    """Decides on counting all the time, or in windows.

    Args:
        share: Share of the time that counting may cost.
        event_ns: What counting costs per event (ns).
        now_ns: The time at which it begins.
    """

    def __init__(self, share, event_ns, now_ns):
        self.mode = EXACT
        self.spent_ns = 0
        """What counting has cost so far, by estimate (ns)."""
        self.exact_ns = 0
        """Time of the thread in which all its lines were counted (ns)."""
        self._share = share
        self._event_ns = event_ns
        self._start_ns = now_ns
        self._last_ns = now_ns
        self.bounded_ns = 0
        """The same since it was last seen how dear that was (ns)."""
        self._asked = False
        self._cheap = 0
        self._windows = 0

    def first(self):
        """The plan to begin with."""
        return Plan(EXACT, FIRST_LOOK_S, False, 0)

    def left_ns(self, now_ns):
        """What may still be spent at that time (ns); negative: too much was."""
        return CREDIT_NS + self._share * (now_ns - self._start_ns) - self.spent_ns

    def next(self, seen):
        """The plan for what was seen."""
        self.spent_ns += seen.spent_ns
        plan = self._while_exact(seen) if self.mode == EXACT else self._while_thinned(seen)
        self._last_ns = seen.now_ns
        return plan

    def _while_exact(self, seen):
        self.bounded_ns += seen.taxed_cpu_ns
        self.exact_ns += seen.taxed_cpu_ns
        if seen.rate is not None:
            return self._after_census(seen)
        if MOST * self.bounded_ns > max(0, self.left_ns(seen.now_ns)):
            return Plan(EXACT, 0, True, 0)
        return Plan(EXACT, LOOK_S if seen.taxed_cpu_ns else IDLE_S, False, 0)

    def _after_census(self, seen):
        """The bound was too high: what was it really?"""
        tax = self._tax(seen.rate)
        self.spent_ns += int(tax * self.bounded_ns)
        self.bounded_ns = 0
        if tax <= self._share or self.left_ns(seen.now_ns) > tax * LOOK_S * 1e9:
            return Plan(EXACT, LOOK_S, False, 0)
        self.mode, self._cheap, self._windows = THINNED, 0, 0
        return Plan(THINNED, 0, False, WINDOW_S)

    def _while_thinned(self, seen):
        if seen.rate is not None:
            self._cheap = self._cheap + 1 if self._tax(seen.rate) <= self._share / 2 else 0
            if self._cheap >= 2:
                self.mode, self.bounded_ns = EXACT, 0
                return Plan(EXACT, LOOK_S, False, 0)
        self._windows += 1
        census = self._windows % CENSUS_EACH == 0
        return Plan(THINNED, self._apart_s(seen), census, 0 if census else WINDOW_S)

    def _apart_s(self, seen):
        """Seconds up to the next window: what one costs, and what is owed, over the share that may be spent."""
        one = seen.spent_ns or WINDOW_S * 1e9
        owed = max(0, -self.left_ns(seen.now_ns))
        # What is owed is paid back over ten windows, so that one outlier does not stop counting.
        return min(LONGEST_S, max(SHORTEST_S, (one + owed / 10) / self._share / 1e9))

    def _tax(self, rate):
        """Share of the counted time that is our own, at so many events per second of the program's."""
        events = rate * self._event_ns / 1e9
        return min(MOST, events / (1 + events))
