"""Collectives that a script calls one by one for many small arrays, as for each parameter's gradient."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.findings.rank_case import RankCase
from dlprof.store.run import Run

_MANY = 8
_SMALL_BYTES = 1 << 20
"""So many in a step, and of less than this each on average: it is their number that takes time, not what is in them."""
_OF_THE_ENGINE = frozenset({"backward", "buffers"})
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
    every = [found for member in case.ranked.members if (found := _of_run(member.run, steps)) is not None]
    if len(every) < len(case.ranked.members):
        return None
    return min(every, key=lambda one: one.ns)


def _of_run(run: Run, steps: int) -> ManyCalls | None:
    rows = [row for row in run.rows("collectives") if row["kind"] not in _OF_THE_ENGINE]
    kinds = Counter(row["kind"] for row in rows)
    if not kinds or not steps:
        return None
    kind, count = kinds.most_common(1)[0]
    sizes = [row["bytes"] for row in rows if row["kind"] == kind and row["bytes"] is not None]
    each = sum(sizes) / len(sizes) if sizes else None
    if count < _MANY * steps or (each is not None and each >= _SMALL_BYTES):
        return None
    ns = sum(row["blocked_ns"] or 0 for row in rows if row["kind"] == kind)
    return ManyCalls(kind, count / steps, ns // steps, each, _line(run, kind))


def _line(run: Run, kind: str) -> SourceLine | None:
    rows = [row for row in run.rows("lines") if f"{kind}(" in (row["source"] or "")]
    most = max(rows, key=lambda row: row["time_ns"] or 0, default=None)
    return (most["file"], most["line"]) if most is not None else None
