"""Two runs of ranks in sentences."""

from __future__ import annotations

from pathlib import Path

from dlprof.report import rank_pairs_words
from tests.unit.analysis.test_rank_pairs import compared, of_step


def test_the_difference_is_told_with_the_rank_that_makes_it(tmp_path: Path) -> None:
    """The mean of the parts is half waiting: the rank says whose fault it is."""
    assert rank_pairs_words.verdict(compared(tmp_path)) == (
        "A train step takes 20.0 ms in a and 13.0 ms in b (mean of the ranks): 7.00 ms or 53.8 % more in a, the largest "
        "part of it waiting for ranks that come later (3.50 ms). Rank 1 does most more itself: 7.00 ms a step."
    )


def test_a_small_difference_is_none(tmp_path: Path) -> None:
    """20 and 19 ms."""
    tables = {f"rank_{rank}": of_step(rank, 19.0, 12, ms) for rank, ms in {0: 5.0, 1: 12.0}.items()}
    assert rank_pairs_words.verdict(compared(tmp_path, {0: 5, 1: 12}, **tables)).endswith(
        "(mean of the ranks): no more of a difference than two runs of the same may have."
    )
