"""Causes of one run of two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.analysis.findings.cases import Planted, slugs
from tests.unit.analysis.findings.test_small_calls import predicting


def pair(slow: int, fast: int) -> Planted:
    """100 calls of predict, 4 s, for so many rows each, against 100 that take half of that, for so many."""
    quick = predicting(fast)
    for table in ("spans", "steps", "phases", "phase_intervals"):
        for row in quick[table]:
            is_of_predict = "predict" in (row.get("kind"), row.get("loop"), row.get("phase"))
            if is_of_predict:
                row["dur_ns"] //= 2
    return Planted(predicting(slow), against=Planted(quick))


@pytest.mark.parametrize(("fast", "told"), [(32, True), (1, False)])
def test_only_what_the_other_run_has_not_is_why_one_is_slower(tmp_path: Path, fast: int, told: bool) -> None:
    """One row at a time against whole batches, or against one row at a time, too."""
    assert ("dispatch-bound" in slugs(pair(1, fast).diagnosis(tmp_path))) is told
