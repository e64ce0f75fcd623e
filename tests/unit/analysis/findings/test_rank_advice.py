"""What to do about findings of ranks."""

from __future__ import annotations

from dlprof.analysis.findings import rank_advice
from dlprof.analysis.findings.rank_case import TITLES


def test_every_finding_of_ranks_has_advice() -> None:
    """None is told without."""
    assert set(rank_advice.ADVICE) == set(TITLES)


def test_advice_has_what_the_training_tells() -> None:
    """In its place."""
    assert rank_advice.advice("slow-host", rank_advice.MACHINE, host="node7") == (
        "Compare the machine with the others: clocks, cores, other programs on it (dlprof report of a rank of node7)."
    )
