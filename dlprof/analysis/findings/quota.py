"""What the CPU quota of a control group took from a training."""

from __future__ import annotations

import math

from dlprof.analysis import scheduling
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain


def held_back(case: Case) -> float:
    """Share of the time in which the control group was held back; 0: it was not, or nobody counts it.

    Raises:
        Abstain: It was held back, and how long the process ran is not known.
    """
    share = scheduling.held_back(case.run)
    if share is None:
        raise Abstain("the CPU time of the process is not known")
    return share


def allows(case: Case) -> float | None:
    """Cores' worth of time that the group may use, where that is less than the affinity allows; None: no less."""
    quota, usable = case.run.manifest.machine.quota_cores, case.machine.bound_cores
    return quota if quota is not None and math.ceil(quota) < usable else None
