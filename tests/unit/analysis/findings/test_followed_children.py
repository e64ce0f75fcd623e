"""Pythons with runs of their own that a program waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import followed_children
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.rules.test_script_waits import before_fit, below, followed


@pytest.mark.parametrize(
    ("walls", "times", "expected"),
    [
        ((3.0,), [(1, 4)], "a Python that it started runs (children/001-train, 3.00 s)"),
        ((1.5, 1.6), [(1, 2.5), (2.4, 4)], "2 Pythons that it started run; the longest is children/002-train, 1.60 s"),
        ((2.0,), [(1, 3)], None),
        ((), [(1, 4)], None),
    ],
)
def test_they_are_waited_for_where_they_run_while_the_script_is_in_its_own_code(
    tmp_path: Path, walls: tuple[float, ...], times: list[tuple[float, float]], expected: str | None
) -> None:
    """It is from 1 to 4 s there: 2 of 3 s are too little, and processes that were not followed do not count."""
    tables = {**runs.training(), **before_fit(run_s=0), "processes": below(*times)}
    found = followed_children.waited_for(Case(runs.held(tmp_path / "r", followed(*walls), **tables)))
    assert (found and found.told) == expected
