"""Steps of all ranks as a map: a row each, a column for each stretch of steps, as few numbers as will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlprof.analysis.columns import Floats, Integers
from dlprof.analysis.rank_steps import BinnedSteps
from dlprof.analysis.ranks import RanksSummary
from dlprof.report.html.pack import Pack

MOST_ROWS = 1024
"""Of more ranks each row is one of several neighbours: the one that does most itself in a step."""
_DIGITS = 4000
"""A usual step is so many ticks, so that what is kept of it is true to a part in thousands."""
_FIGURES = ("whole", "input", "wait", "transfer", "longest")


@dataclass(frozen=True)
class Heat:
    """What a map shows.

    Attributes:
        rows: Rank of each row, from the top.
        of_row: Neighbours that a row stands for.
        steps: Rank to its steps.
    """

    rows: tuple[int, ...]
    of_row: int
    steps: Mapping[int, BinnedSteps]

    @property
    def each(self) -> int:
        """Steps of a column."""
        return next(iter(self.steps.values())).each

    @property
    def columns(self) -> int:
        """How many stretches the rank with most steps has."""
        return max(len(one.whole) for one in self.steps.values())


def of_summary(summary: RanksSummary) -> Heat | None:
    """The map of a run; None: no rank has steps."""
    known = summary.stretches
    if not known:
        return None
    ranks = [one.rank for one in summary.ranks]
    of_row = -(-len(ranks) // MOST_ROWS)
    groups = [ranks[at : at + of_row] for at in range(0, len(ranks), of_row)]
    rows = tuple(max(group, key=lambda rank: _work(known.get(rank))) for group in groups)
    return Heat(rows, of_row, {rank: known[rank] for rank in rows if rank in known})


def _work(one: BinnedSteps | None) -> float:
    return -1.0 if one is None else float(np.median(one.own))


def packed(heat: Heat, pack: Pack, drawn: Mapping[int, tuple[Integers, Integers]]) -> dict[str, Any]:
    """A map as JSON, its columns in `pack`: of each figure one with all rows, in ticks and one more; 0: no such step.

    Args:
        heat: The map.
        pack: Takes the columns.
        drawn: Rank to begin and end of its stretches on the axis of a timeline that is drawn, too (ns).
    """
    known = list(heat.steps.values())
    tick_ns = max(1, int(np.median([float(np.median(one.whole)) for one in known]) / _DIGITS))
    waits = all(one.wait is not None for one in known)
    names = [name for name in _FIGURES if waits or name not in ("wait", "transfer")]
    return {
        "rows": heat.rows,
        "of_row": heat.of_row,
        "each": heat.each,
        "columns": heat.columns,
        "tick_ns": tick_ns,
        "waits": waits,
        **{name: pack.unsigned(_filled(heat, name, tick_ns)) for name in names},
        "longest_at": pack.unsigned(_filled(heat, "longest_at", None)) if heat.each > 1 else None,
        "places": {
            str(rank): {"begin": pack.rising(begin), "end": pack.rising(end)} for rank, (begin, end) in drawn.items()
        },
    }


def _filled(heat: Heat, name: str, tick_ns: int | None) -> Integers:
    """A figure of all rows behind each other, each as long as the longest."""
    found = np.zeros((len(heat.rows), heat.columns), np.int64)
    for row, rank in enumerate(heat.rows):
        if rank in heat.steps:
            values: Floats | Integers = getattr(heat.steps[rank], name)
            found[row, : len(values)] = values if tick_ns is None else np.rint(values / tick_ns) + 1
    return found.reshape(-1)


def chosen(summary: RanksSummary, wanted: Sequence[int], most: int) -> tuple[int, ...]:
    """Ranks whose timelines are worth to be seen beside each other.

    Args:
        summary: The ranks.
        wanted: Those that the user asks for; empty: the straggler, the first that did not end well, the one that does
            least itself, and then the first ones.
        most: How many there may be.
    """
    if wanted:
        return tuple(dict.fromkeys(wanted))[:most]
    own = {rank: _work(one) for rank, one in summary.stretches.items()}
    order = [
        *([summary.straggler.rank] if summary.straggler is not None else []),
        *[one.rank for one in summary.ranks if one.failed][:1],
        *([min(own, key=lambda rank: own[rank])] if own else []),
        *([max(own, key=lambda rank: own[rank])] if own else []),
        *[one.rank for one in summary.ranks],
    ]
    return tuple(sorted(list(dict.fromkeys(order))[:most]))
