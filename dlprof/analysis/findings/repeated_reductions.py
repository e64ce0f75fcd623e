"""Gradients that ranks give to each other more often than weights change: after each of several backward passes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from dlprof.analysis.columns import total
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.findings.rank_case import RankCase, longest_line
from dlprof.store.run import Run

OF_BACKWARD = "backward"
"""Kind of the collectives in which DistributedDataParallel reduces gradients."""
_OFTEN = 1.9
"""So many times the bytes of all gradients in a step: from there on it is no matter of steps that were not counted."""


@dataclass(frozen=True)
class Repeated:
    """How often gradients are reduced.

    Attributes:
        times: In a step, on average: of the rank that does it least often.
        bytes: Of all gradients together.
        line: The line of the script that goes back and took longest; None: not seen.
    """

    times: float
    bytes: int
    line: SourceLine | None

    @property
    def saved(self) -> float:
        """Share of the reductions that weights do not need: 0 to 1."""
        return 1 - 1 / self.times


def of_ranks(case: RankCase, steps: int) -> Repeated | None:
    """Those of all ranks; None: gradients are reduced once a step, or one of the ranks does not tell.

    Args:
        case: The ranks.
        steps: Steps of each rank.
    """
    return min(case.of_each(lambda run: _of_run(run, steps)), key=lambda one: one.times, default=None)


def _of_run(run: Run, steps: int) -> Repeated | None:
    told = run.manifest.data_parallel
    if told is None or not told.bytes or not steps:
        return None
    table = run.table("collectives", ("kind", "bytes"))
    times = total(table.filter(pc.equal(table["kind"], OF_BACKWARD))["bytes"].fill_null(0)) / steps / told.bytes
    return Repeated(times, told.bytes, longest_line(run, ".backward(")) if times >= _OFTEN else None
