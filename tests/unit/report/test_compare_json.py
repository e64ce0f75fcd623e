"""A comparison as JSON."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import compare, line_pairs
from dlprof.analysis.compare import Side
from dlprof.report import compare_json
from dlprof.report.compare_json import ItemReport, LineReport
from dlprof.report.json_text import plain
from tests.unit.runs import S, lasting, trained

LINE = {"file": "train.py", "function": "f", "first_line": 1, "line": 2, "hits": 3, "source": "x"}


def test_json_has_the_fields_of_the_contract_in_their_order(tmp_path: Path) -> None:
    """`dlprof.compare/1`, see docs/json.md."""
    a, b = (Side(name, (trained(tmp_path / name),)) for name in "ab")

    content = plain(compare_json.as_json(compare.compare(a, b), []))

    assert content["schema"] == "dlprof.compare/1"
    assert list(content) == [
        "schema", "a", "b", "comparable", "why_not", "what_helps", "differences", "not_checked", "gap_ns", "gap_ci_ns", "within_noise",
        "items", "common_slowdown", "unattributed_ns", "steps_not_split_because", "layers", "lines",
        "verdict", "longer_in_a", "longer_in_b", "memory", "work", "doubts",
    ]  # fmt: skip
    assert list(content["a"]) == ["label", "runs", "wall_ns", "step_ns", "cores"]
    assert list(content["items"][0]) == ["path", "a_ns", "b_ns", "delta_ns", "ci_ns", "within_noise", "name"]


def test_the_parts_sum_to_the_gap(tmp_path: Path) -> None:
    """A of 12 s, B of 10 s."""
    a, b = (trained(tmp_path / name) for name in "ab")

    report = compare_json.as_json(compare.compare(Side("a", (lasting(a, 12 * S),)), Side("b", (b,))), [])

    assert (report.a.wall_ns, report.b.wall_ns, report.gap_ns) == (12 * S, 10 * S, 2 * S)
    assert sum(item.delta_ns for item in report.items) + report.unattributed_ns == 2 * S
    assert ItemReport("import", 2 * S, 2 * S, 0, None, True, "import") in report.items


def test_lines_have_the_difference_of_their_times(tmp_path: Path) -> None:
    """A line that only one side has is there, too."""
    a = trained(tmp_path / "a", lines=[{**LINE, "time_ns": 3 * S}, {**LINE, "line": 9, "time_ns": S, "source": "y"}])
    b = trained(tmp_path / "b", lines=[{**LINE, "time_ns": S}])

    comparison = compare.compare(Side("a", (a,)), Side("b", (b,)))
    report = compare_json.as_json(comparison, line_pairs.join((a,), (b,)))

    assert report.lines == (
        LineReport("train.py", "f", 2, "x", 3, 3 * S, 3, S, 2 * S, b_file="train.py", b_function="f", b_line=2),
        LineReport("train.py", "f", 9, "y", 3, S, None, None, S),
    )
