"""Two runs beside each other as frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def test_memory_and_work_stand_beside_each_other(tmp_path: Path) -> None:
    """By phase, by kind, by layer; a gap that is the same work at a lower rate is called so."""
    layer = {
        "model": 1, "layer": "dense", "class": "Dense", "inputs": ["100x1000"], "output": "100x1000", "calls": 1,
        "dtype": "float32", "trained": True, "first": True, "weight_names": ["kernel"], "weights": ["1000x1000"],
        "bytes_per_value": 4,
    }  # fmt: skip
    for name, ms, peak in (("a", 12, 800), ("b", 4, 500)):
        kernel = {"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": ms}
        held = {"model": 1, "layer": "dense", "kind": "parameters", "bytes": 300, "how": "exact", "count": 1}
        sample = {"pid": 42, "time_ns": 4 * S, "interval_ns": S, "rss_bytes": peak}
        tables: dict[str, Any] = {"layers": [layer], "memory_owners": [held], "process_samples": [sample]}
        runs.trained(tmp_path / name, **tables, **runs.window([kernel]))
    pair = dlprof.compare(tmp_path / "a", tmp_path / "b")

    memory = pair.memory().set_index(["of", "name"])["delta_bytes"].to_dict()
    work = pair.work(unit="ms").set_index("direction").loc["forward"]

    assert memory == {
        ("phase", "fit.steps"): 300, ("kind", "parameters"): 0, ("kind", "other"): 300, ("layer", "dense"): 0,
    }  # fmt: skip
    assert (work["a_ms"], work["b_ms"], work["a_flops"], work["cause"]) == (12, 4, 200_000_000, "lower-rate")
