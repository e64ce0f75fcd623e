"""The quota of a container, or the host of a virtual machine, held the processor back."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import scheduling
from dlprof.analysis.findings import quota
from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.rules import threads_oversubscribed
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Ground

TITLE = Title("A quota held the processor back", "a quota that held the processor back")
_OF_HOST = Title("The host took the processor away", "a host that gave the processor to others")
_EVIDENCE = (
    Query("time held back, a counter", "SELECT time_ns, throttled_ns FROM machine ORDER BY time_ns"),
    Query("time stolen by the host, percent", "SELECT core, avg(steal_pct) AS steal_pct FROM cores GROUP BY core"),
)


def look(case: Case) -> Iterator[Claim]:
    """How long the control group of the process was held back, or the machine."""
    if share := quota.held_back(case):
        yield _of_quota(case, share)
        return
    stolen = scheduling.stolen(case.run)
    if stolen is None:
        if case.machine.counter_growth("throttled_ns") is None:
            raise Abstain("this machine does not tell throttled_ns")
        return
    yield Claim(
        Sentence("The host of this virtual machine gave its cores to others for"),
        case.takes(*WORK, share=stolen),
        _EVIDENCE,
        "Measure when the host is quieter, or on a machine that has its cores for itself.",
        support=Support(Ground.STATED),
        title=_OF_HOST,
    )


def _of_quota(case: Case, share: float) -> Claim:
    """What a quota took, but for what fewer threads would have left of it: to mend that is free."""
    cores = case.run.manifest.machine.quota_cores
    name = "The quota" if cores is None else f"The quota of {cores:g} core{'s' * (cores != 1)}"
    return Claim(
        Sentence(f"{name} of the process's control group held it back for"),
        case.takes(*WORK, share=max(0.0, share - _of_threads(case))),
        _EVIDENCE,
        "Give the container more CPU (docker run --cpus, resources.limits.cpu), or start fewer threads than its quota.",
        support=Support(Ground.STATED),
    )


def _of_threads(case: Case) -> float:
    try:
        return threads_oversubscribed.lost(case) if quota.allows(case) is not None else 0.0
    except Abstain:
        return 0.0
