"""The quota of a container, or the host of a virtual machine, held the processor back."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.rules import threads_oversubscribed
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Ground

TITLE = Title(
    "The processor was held back by its quota or its host", "a quota, or a host, that held the processor back"
)
_OF_HOST = Title("The host took the processor away", "a host that gave the processor to others")
_STOLEN = 0.02
"""Less stolen time than this share is usual in a virtual machine."""
_EVIDENCE = (
    Query("time held back, a counter", "SELECT time_ns, throttled_ns FROM machine ORDER BY time_ns"),
    Query("time stolen by the host, percent", "SELECT core, avg(steal_pct) AS steal_pct FROM cores GROUP BY core"),
)


def look(case: Case) -> Iterator[Claim]:
    """How long the control group of the process was held back, or the machine."""
    throttled = case.machine.counter_growth("throttled_ns")
    if throttled is not None:
        if throttled:
            yield from _of_quota(case, throttled)
        return
    stolen = _stolen(case)
    if stolen is None:
        raise Abstain("this machine does not tell throttled_ns")
    yield Claim(
        Sentence("The host of this virtual machine gave its cores to others for"),
        case.takes(*WORK, share=stolen),
        _EVIDENCE,
        "Measure when the host is quieter, or on a machine that has its cores for itself.",
        support=Support(Ground.STATED),
        title=_OF_HOST,
    )


def _of_quota(case: Case, throttled_ns: int) -> Iterator[Claim]:
    """What a quota took from the process.

    The kernel counts it on each core: of two threads that stop for a second it is two. So it is set against the time
    that they ran. By measurement, with a quota of one core and of half a core for two threads: 50 % and 79 % by this,
    53 % and 78 % by what the same took without a quota.
    """
    told = case.run.manifest.process
    if told.cpu_user_ns is None or told.cpu_system_ns is None:
        raise Abstain("the CPU time of the process is not known")
    share = throttled_ns / (told.cpu_user_ns + told.cpu_system_ns + throttled_ns)
    if threads_oversubscribed.is_beyond(case):
        # What uses the quota up is told by its own name: mending it is free, and another processor is not.
        share = max(0.0, share - threads_oversubscribed.LOST_BEYOND)
    quota = case.run.manifest.machine.quota_cores
    name = "The quota" if quota is None else f"The quota of {quota:g} core{'s' * (quota != 1)}"
    yield Claim(
        Sentence(f"{name} of the process's control group held it back for"),
        case.takes(*WORK, share=share),
        _EVIDENCE,
        "Give the container more CPU (docker run --cpus, resources.limits.cpu), or start fewer threads than its quota.",
        support=Support(Ground.STATED),
    )


def _stolen(case: Case) -> float | None:
    """Share of the time of all cores that the host of a virtual machine took; None: it is not told, or usual."""
    known = [piece["steal_pct"].drop_null() for piece in case.run.pieces("cores", ("steal_pct",))]
    count, total = sum(len(column) for column in known), sum(pc.sum(column).as_py() or 0.0 for column in known)
    share = total / count / 100 if count else None
    return share if share is not None and share > _STOLEN else None
