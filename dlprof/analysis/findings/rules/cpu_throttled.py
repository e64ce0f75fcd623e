"""The quota of a container, or heat, held the processor back."""

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
_STOLEN = 0.02
"""Less stolen time than this share is usual in a virtual machine."""
_EVIDENCE = (
    Query("time held back, a counter", "SELECT time_ns, throttled_ns FROM machine ORDER BY time_ns"),
    Query("time stolen by the host, percent", "SELECT core, avg(steal_pct) AS steal_pct FROM cores GROUP BY core"),
)


def look(case: Case) -> Iterator[Claim]:
    """How long the control group of the process was held back, or the machine."""
    throttled = case.machine.counter_growth("throttled_ns")
    share = _stolen(case) if throttled is None else _held_back(case, throttled)
    if share is None:
        raise Abstain("this machine does not tell throttled_ns")
    if not share:
        return
    quota = case.run.manifest.machine.quota_cores
    group = (
        "The quota of the process's control group"
        if quota is None
        else f"A quota of {quota:g} core{'s' * (quota != 1)}"
    )
    yield Claim(
        Sentence(f"{group}, or the host of this virtual machine, held it back for"),
        case.takes(*WORK, share=share),
        _EVIDENCE,
        "Give the container more CPU (docker run --cpus, resources.limits.cpu), or start fewer threads than its quota.",
        support=Support(Ground.STATED),
    )


def _held_back(case: Case, throttled_ns: int) -> float:
    """Share of the time in which a group was held back.

    The kernel counts it on each core: of two threads that stop for a second it is two. So it is set against the time
    that they ran. By measurement, with a quota of one core and of half a core for two threads: 50 % and 79 % by this,
    53 % and 78 % by what the same took without a quota.
    """
    told = case.run.manifest.process
    ran = (told.cpu_user_ns or 0) + (told.cpu_system_ns or 0)
    share = throttled_ns / max(1, ran + throttled_ns)
    # What the quota is used up by is told by its own name, and saves more than the processor that it wants.
    return max(0.0, share - threads_oversubscribed.LOST_BEYOND) if threads_oversubscribed.is_beyond(case) else share


def _stolen(case: Case) -> float | None:
    """Share of the training's time that the host of a virtual machine took; None: it is not told, or usual."""
    known = [piece["steal_pct"].drop_null() for piece in case.run.pieces("cores", ("steal_pct",))]
    count, total = sum(len(column) for column in known), sum(pc.sum(column).as_py() or 0.0 for column in known)
    share = total / count / 100 if count else None
    return share if share is not None and share > _STOLEN else None
