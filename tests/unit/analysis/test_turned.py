"""A comparison from its other side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.analysis.turned import turned
from tests.unit.runs import S, lasting, phases, trained


def test_a_turned_comparison_is_that_of_the_sides_in_the_other_order(tmp_path: Path) -> None:
    """Field by field; parts with the same difference may stand in another order."""
    a = trained(tmp_path / "a")
    b = lasting(trained(tmp_path / "b", phases=phases(fit_steps=8, fit_callbacks=1, teardown=2)), 13 * S)
    sides = Side("a", (a,)), Side("b", (b,))
    found = turned(compare.compare(*sides))
    assert found == compare.compare(*reversed(sides))


def test_intervals_turn_with_their_differences(tmp_path: Path) -> None:
    """The lower end is the other's upper end."""
    found = compare.compare(*(Side(name, (trained(tmp_path / name),)) for name in "ab"))
    assert turned(replace(found, gap_ci_ns=(-S, 3 * S))).gap_ci_ns == (-3 * S, S)
