"""The rate of a probe beside the process: lowered while it takes more from the run than it may.

It takes something from the run only while no core is free. Averages do not say when that is: of two cores that are 80 %
busy one is mostly free, or they work and wait together, as engines have them do. The chance is taken of cores that are
independent, which is between the two. Standard library only.
"""

from __future__ import annotations

import math
import os
import time
from typing import Any

from dlprof_probes.sidecar import proc

LEAST_HZ = 1.0
"""No rate is lowered further than this where nothing else is said: py-spy has no lower one."""
_LOOK_NS = 2_000_000_000
_AT_ONCE = 0.25
"""A rate is not lowered further than to this share of itself at once: what was dear may have been a moment."""


class BusyCores:
    """How likely all cores that this process may use were busy at one time, since it was last asked."""

    def __init__(self) -> None:
        self._cores = {f"cpu{number}".encode() for number in os.sched_getaffinity(0)}
        self._before = self._read()

    def chance(self, own: float) -> float | None:
        """The product of how busy each core was, as if they took turns by chance.

        Args:
            own: Share of a core that the probe itself took: on the core that had most room.

        Returns:
            From 0 (one was free at any time) to 1; None where no time has passed.
        """
        before, self._before = self._before, self._read()
        passed = [(busy - old[0], total - old[1]) for (busy, total), old in zip(self._before, before, strict=False)]
        if not passed or any(total <= 0 for _, total in passed):
            return None
        loads = sorted(busy / total for busy, total in passed)
        return max(0.0, loads[0] - own) * math.prod(loads[1:])

    def _read(self) -> list[tuple[int, int]]:
        """Busy and all ticks of each core; none where `/proc` is not mounted."""
        cores = []
        for line in proc.read("/proc/stat").splitlines():
            words = line.split()
            if words and words[0] in self._cores:
                ticks = [int(word) for word in words[1:9]]
                cores.append((sum(ticks) - ticks[3] - ticks[4], sum(ticks)))
        return cores


class Rate:
    """A rate, and what the probe may take with it.

    Args:
        hz: Samples per second to begin with.
        share: Share of the wall time that the probe may cost; None: no limit.
        least_hz: The rate is not lowered further than this.
    """

    def __init__(self, hz: float, share: float | None, least_hz: float = LEAST_HZ) -> None:
        self.hz = hz
        self._least_hz = least_hz
        self._asked_hz = hz
        self._share = share
        self._cores = BusyCores()
        self._time_ns = time.perf_counter_ns()
        self._cpu_ns: int | None = None
        self._cost = self._taken = 0.0
        self.taken = 0.0
        """Share of a core that the probe took between the last two looks."""

    @property
    def is_due(self) -> bool:
        """Whether enough time has passed for the next look."""
        return self._share is not None and time.perf_counter_ns() - self._time_ns >= _LOOK_NS

    def look(self, cpu_ns: int | None = None) -> bool:
        """Lower the rate if it is too high; returns whether it was.

        Args:
            cpu_ns: CPU time that the probe has taken so far (ns); None: it is this very process.
        """
        if self._share is None or not self.is_due:
            return False
        now = time.perf_counter_ns()
        cpu_ns = time.process_time_ns() if cpu_ns is None else cpu_ns
        passed, self._time_ns = now - self._time_ns, now
        before, self._cpu_ns = self._cpu_ns, cpu_ns
        self.taken = taken = (cpu_ns - (before or 0)) / passed
        busy = self._cores.chance(taken)
        if before is None or busy is None or self.hz <= self._least_hz:
            return False
        cost = taken * busy
        if cost <= self._share:
            return False
        if cost > self._cost:
            self._cost, self._taken = cost, taken
        self.hz = max(self._least_hz, self.hz * max(_AT_ONCE, self._share / cost))
        return True

    def raise_to(self, hz: float) -> bool:
        """Raise the rate, unless the user chose it, or it had to be lowered; returns whether it was raised."""
        if self._share is None or self.hz < self._asked_hz or hz <= self.hz:
            return False
        self.hz = self._asked_hz = hz
        return True

    def thinned(self) -> dict[str, Any] | None:
        """What was left out, as the ledger has it; None: nothing was."""
        if self.hz >= self._asked_hz:
            return None
        why = f"it took {100 * self._taken:.1f} % of a core, and {100 * self._cost:.1f} % from the run: few were free"
        return {"what": "samples per second", "from": self._asked_hz, "to": round(self.hz, 1), "why": why}
