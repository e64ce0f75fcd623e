"""The page of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.report import compare_json
from dlprof.report.json_text import plain
from tests.unit.report.html.pages import Elements, embedded, page_of_both, unpacked
from tests.unit.runs import S, lasting, steps, trained


def test_a_comparison_carries_its_json(tmp_path: Path) -> None:
    """The same object as `dlprof compare --json`."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b")
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))
    assert embedded(page_of_both(a, b), "compare.json") == json.loads(
        json.dumps(plain(compare_json.as_json(found, [])))
    )


def test_a_faster_side_is_not_said_to_be_slower(tmp_path: Path) -> None:
    """Then the sides are to be swapped."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b")
    b = lasting(b, 15 * S)
    assert "It is not: swap the sides" in Elements(page_of_both(a, b)).text


def test_the_waterfall_sums_to_the_gap(tmp_path: Path) -> None:
    """From B's wall time to A's."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b", steps=steps(125))
    b = lasting(b, 7 * S)
    content, _ = unpacked(page_of_both(a, b))
    assert sum(part["delta_ns"] for part in content["waterfall"]) == 3 * S
    assert content["walls_ns"] == [10 * S, 7 * S]
