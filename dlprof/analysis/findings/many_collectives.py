"""Collectives that a script calls one by one for many small arrays, as for each parameter's gradient."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.analysis.columns import total
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.findings.rank_case import RankCase, longest_line
from dlprof.analysis.findings.rank_events import BUFFERS, MANY_PARTS, SMALL_BYTES
from dlprof.analysis.findings.repeated_reductions import OF_BACKWARD
from dlprof.store.run import Run

_OF_THE_ENGINE = frozenset({OF_BACKWARD, BUFFERS})
"""Kinds that DistributedDataParallel itself starts."""


@dataclass(frozen=True)
class ManyCalls:
    """The collectives of one kind that a rank calls in a step.

    Attributes:
        kind: As the engine calls it: `all_reduce`.
        per_step: How many.
        ns: How long a rank stands still in those of a step (ns).
        bytes_each: What a rank gives to one on average (bytes); None: not told.
        line: The line of the script that calls it and took longest; None: not seen.
    """

    kind: str
    per_step: float
    ns: int
    bytes_each: float | None
    line: SourceLine | None


def of_ranks(case: RankCase, steps: int) -> ManyCalls | None:
    """Those of the rank that stands still in them for the shortest; None: they are few, or large.

    Args:
        case: The ranks.
        steps: Steps of each rank.
    """
    return min(case.of_each(lambda run: _of_run(run, steps)), key=lambda one: one.ns, default=None)


def _of_run(run: Run, steps: int) -> ManyCalls | None:
    table = run.table("collectives", ("kind", "blocked_ns", "bytes"))
    kinds = Counter({one["values"]: one["counts"] for one in pc.value_counts(table["kind"]).to_pylist()})
    kind, count = next((one for one in kinds.most_common() if one[0] not in _OF_THE_ENGINE), ("", 0))
    if not count or not steps:
        return None
    mine = table.filter(pc.equal(table["kind"], kind))
    each = pc.mean(mine["bytes"]).as_py()
    if count < MANY_PARTS * steps or (each is not None and each >= SMALL_BYTES):
        return None
    return ManyCalls(kind, count / steps, total(mine["blocked_ns"]) // steps, each, longest_line(run, f"{kind}("))
