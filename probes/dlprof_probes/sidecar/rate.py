"""The rate of a probe beside the process: lowered while it takes more from the run than it may.

It takes something from the run only while no core is free. Standard library only.
"""

from __future__ import annotations

import os
import time
from typing import Any

LEAST_HZ = 1.0
"""No rate is lowered further than this."""
_LOOK_NS = 5_000_000_000
_AT_ONCE = 0.25
"""A rate is not lowered further than to this share of itself at once: what was dear may have been a moment."""
_FREE = 0.05
"""Below this share of free time the cores are all busy."""


class FreeTime:
    """How much of the cores that this process may use was free, since it was last asked."""

    def __init__(self) -> None:
        self._cores = {f"cpu{number}".encode() for number in os.sched_getaffinity(0)}
        self._before = self._read()

    def share(self) -> float | None:
        """From 0 (all were busy) to 1; None where no time has passed."""
        before, self._before = self._before, self._read()
        idle, total = (new - old for new, old in zip(self._before, before, strict=True))
        return idle / total if total > 0 else None

    def _read(self) -> tuple[int, int]:
        """Idle and all ticks."""
        idle = total = 0
        with open("/proc/stat", "rb") as file:  # noqa: PTH123
            for line in file:
                words = line.split()
                if words[0] in self._cores:
                    ticks = [int(word) for word in words[1:9]]
                    idle += ticks[3] + ticks[4]
                    total += sum(ticks)
        return idle, total


class Rate:
    """A rate, and what the probe may take with it.

    Args:
        hz: Samples per second to begin with.
        share: Share of the wall time that the probe may cost; None: no limit.
    """

    def __init__(self, hz: float, share: float | None) -> None:
        self.hz = hz
        self._asked_hz = hz
        self._share = share
        self._free = FreeTime()
        self._time_ns = time.perf_counter_ns()
        self._cpu_ns: int | None = None
        self._cost = 0.0

    def look(self, cpu_ns: int | None = None) -> bool:
        """Lower the rate if it is too high; returns whether it was.

        Args:
            cpu_ns: CPU time that the probe has taken so far (ns); None: it is this very process.
        """
        now = time.perf_counter_ns()
        if self._share is None or now - self._time_ns < _LOOK_NS:
            return False
        cpu_ns = time.process_time_ns() if cpu_ns is None else cpu_ns
        passed, self._time_ns = now - self._time_ns, now
        before, self._cpu_ns = self._cpu_ns, cpu_ns
        free = self._free.share()
        if before is None or free is None or free >= _FREE or self.hz <= LEAST_HZ:
            return False
        cost = (cpu_ns - before) / passed
        if cost <= self._share:
            return False
        self._cost = max(self._cost, cost)
        self.hz = max(LEAST_HZ, self.hz * max(_AT_ONCE, self._share / cost))
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
        why = f"it took {100 * self._cost:.1f} % of a core while none was free"
        return {"what": "samples per second", "from": self._asked_hz, "to": round(self.hz, 1), "why": why}
