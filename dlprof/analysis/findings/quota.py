"""What the CPU quota of a control group took from a training."""

from __future__ import annotations

import math

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain


def held_back(case: Case) -> float:
    """Share of the time in which the control group was held back; 0: it was not, or nobody counts it.

    The kernel counts it on each core: of two threads that stop for a second it is two. So it is set against the time
    that they ran. By measurement, with a quota of one core and of half a core for two threads: 50 % and 79 % by this,
    53 % and 78 % by what the same took without a quota.

    Raises:
        Abstain: It was held back, and how long the process ran is not known.
    """
    throttled = case.machine.counter_growth("throttled_ns")
    if not throttled:
        return 0.0
    told = case.run.manifest.process
    ran = (told.cpu_user_ns or 0) + (told.cpu_system_ns or 0)
    if not ran:
        raise Abstain("the CPU time of the process is not known")
    return throttled / (ran + throttled)


def allows(case: Case) -> float | None:
    """Cores' worth of time that the group may use, where that is less than the affinity allows; None: no less."""
    quota, usable = case.run.manifest.machine.quota_cores, case.machine.bound_cores
    return quota if quota is not None and math.ceil(quota) < usable else None
