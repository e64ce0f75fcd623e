"""The quota of a container, or heat, held the processor back."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
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
    """How long the control group of the process was held back."""
    throttled = case.machine.counter_growth("throttled_ns")
    if throttled is None:
        steal = _stolen(case)
        if steal is None:
            raise Abstain("this machine does not tell throttled_ns")
        throttled = int(steal * case.own(Tree.FIT))
    if not throttled:
        return
    whole = sum(case.own(top) for top in WORK) or 1
    yield Claim(
        Sentence("The quota of the process's control group, or the host of this virtual machine, held it back for"),
        case.takes(*WORK, share=min(1.0, throttled / whole)),
        _EVIDENCE,
        "Give the container more CPU (docker run --cpus, resources.limits.cpu), or start fewer threads than its quota.",
        support=Support(Ground.STATED),
    )


def _stolen(case: Case) -> float | None:
    known = [piece["steal_pct"].drop_null() for piece in case.run.pieces("cores", ("steal_pct",))]
    count, total = sum(len(column) for column in known), sum(pc.sum(column).as_py() or 0.0 for column in known)
    share = total / count / 100 if count else None
    return share if share is not None and share > _STOLEN else None
