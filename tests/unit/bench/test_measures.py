"""Sums over repeats."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.bench import measures
from dlprof.bench.results import CellResult
from tests.unit import runs
from tests.unit.runs import S


def result(number: int, **values: float | None) -> CellResult:
    """A run."""
    return CellResult(work="w", backend="b", number=number, measures=values)


def test_a_row_is_the_median_with_its_interval() -> None:
    """Over five runs; a measure that no run has is missing, not 0."""
    (row,) = measures.rows([result(n, wall_s=float(n), loss=None) for n in (1, 2, 3, 4, 5)], 1)

    assert row.medians == {"wall_s": 3.0}
    low, high = row.intervals["wall_s"]
    assert 1.0 <= low < 3.0 < high <= 5.0


def test_two_runs_have_no_interval() -> None:
    """There is nothing to draw from."""
    (row,) = measures.rows([result(1, wall_s=1.0), result(2, wall_s=2.0)], 1)

    assert (row.medians, row.intervals) == ({"wall_s": 1.5}, {})


@pytest.mark.parametrize(
    ("values", "noisy"),
    [
        ((0.0867, 1.18, 2.2), ("wall_s",)),
        ((1.0, 1.1, 1.2), ()),
        ((1.0, 2.0), ("wall_s",)),
        ((1.0, 1.1), ()),
        ((1.0,), ()),
    ],
    ids=["spread of 3", "3 alike", "spread of 2", "2 alike", "one"],
)
def test_a_median_of_runs_that_differ_by_half_of_it_is_noisy(values: tuple[float, ...], noisy: tuple[str, ...]) -> None:
    """By its interval; where there is none, by the values."""
    (row,) = measures.rows([result(n, wall_s=value) for n, value in enumerate(values)], 1)

    assert row.noisy == noisy


def test_what_other_programs_used_is_a_share_of_all_cores(tmp_path: Path) -> None:
    """None where it was not measured."""
    told = runs.manifest()
    rows = [{"time_ns": n * S, "interval_ns": S, "others_cpu_pct": 50.0 * n} for n in (1, 3)]
    cores = told["machine"]["cores"]

    assert measures.others_share(runs.make(tmp_path / "a", told, machine=rows)) == pytest.approx(1.0 / cores)
    assert measures.others_share(runs.make(tmp_path / "b", told)) is None
