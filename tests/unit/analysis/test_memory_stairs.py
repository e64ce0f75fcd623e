"""Whether memory grew in stairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import memory_growth, memory_series, memory_stairs
from tests.unit.analysis.memory_runs import MB, over_training


@pytest.mark.parametrize(
    ("own", "hits", "expected"),
    [
        ([20 * MB * (n // 20) for n in range(100)], 5, True),
        ([n * MB for n in range(100)], 5, False),
        ([n * MB for n in range(100)], 40, None),
        ([n * MB // 3 + 14 * MB * (n // 20) for n in range(100)], 5, None),
    ],
    ids=["stairs", "a slope", "as many as samples", "both"],
)
def test_memory_grew_in_as_many_stairs_as_a_line_ran(
    tmp_path: Path, own: list[int], hits: int, expected: bool | None
) -> None:
    """Or not, or samples do not tell."""
    run = over_training(own, tmp_path / "r")
    series = memory_series.of_run(run)
    assert series is not None

    assert memory_stairs.are(series, memory_growth.of_run(run, series), hits, 500) is expected
