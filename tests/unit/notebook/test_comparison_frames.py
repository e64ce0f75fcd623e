"""Two runs beside each other as frames."""

from __future__ import annotations

from pathlib import Path

import dlprof
from dlprof.notebook.views import ComparisonView
from tests.unit import runs
from tests.unit.notebook.kernels import KERNELS
from tests.unit.runs import MS, S


def test_items_of_a_comparison_sum_to_the_gap(pair: ComparisonView) -> None:
    """By path, with A minus B."""
    items = pair.items()

    assert items.index.name == "path"
    assert items.loc["fit/steps", ["a_ns", "b_ns", "delta_ns"]].to_list() == [5 * S, 1 * S, 4 * S]
    assert items["delta_ns"].sum() == pair.gap_ns == 4 * S
    assert items["ci_low_ns"].isna().all()
    assert pair.gap_s == 4.0


def test_frames_of_a_comparison_have_their_columns_where_nothing_was_counted(pair: ComparisonView) -> None:
    """No lines, no kernels."""
    assert list(pair.layers().columns)[:3] == ["layer", "direction", "a_ns"]
    assert list(pair.lines().columns)[:3] == ["file", "function", "line"]
    assert pair.lines().empty


def test_layers_have_the_operators_of_both_sides(tmp_path: Path) -> None:
    """A layer that is on one side only has no time on the other."""
    runs.trained(tmp_path / "a", **runs.window(KERNELS))
    runs.trained(tmp_path / "b", **runs.window([{**KERNELS[0], "layer": "other", "op": "dot"}]))

    frame = dlprof.compare(tmp_path / "a", tmp_path / "b").layers().set_index("layer")

    assert frame.loc["dense", "a_ops"] == "mm"
    assert frame.loc["other", "b_ops"] == "dot"
    assert frame["b_ns"].isna()["dense"]
    assert frame.loc["dense", "delta_ns"] == frame.loc["dense", "a_ns"] > 0


def test_lines_stand_beside_each_other(tmp_path: Path) -> None:
    """By what they are, not by their number."""
    for name, hits in (("a", 3), ("b", 5)):
        line = {
            "file": "t.py",
            "function": "f",
            "first_line": 1,
            "line": hits,
            "hits": hits,
            "time_ns": hits * MS,
            "source": "x()",
        }
        runs.trained(tmp_path / name, lines=[line])

    (row,) = dlprof.compare(tmp_path / "a", tmp_path / "b").lines().to_dict("records")

    assert (row["a_hits"], row["b_hits"], row["delta_ns"]) == (3, 5, -2 * MS)
