"""Tables of kernels on a terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import kernels
from dlprof.report import kernel_tables
from dlprof.store.run import Run
from tests.unit.analysis.findings.cases import keep_source
from tests.unit.report.reports import rows
from tests.unit.runs import MS, trained, window

DENSE = {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 5}
LOOSE = {"op": "Relu", "category": "elementwise", "ms": 15}


class Terminal(io.StringIO):
    """As wide as the environment says."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def printed(run: Run, by: str, **how: Any) -> list[str]:
    """The lines of a table."""
    given = {"top": 40, "file": io.StringIO(), **how}
    kernel_tables.print_table(run, kernels.summarise(run, by), by, **given)
    return [line.rstrip() for line in given["file"].getvalue().splitlines()]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Ten steps of 20 ms: 5 ms of a layer's, 15 ms of no layer's."""
    return trained(tmp_path / "r", **window([DENSE, LOOSE]))


def test_a_layer_is_a_row(run: Run) -> None:
    """With where it ran, its figures, and its operator last."""
    assert rows(printed(run, "layer")) == [
        ["layer", "direction", "on", "count", "total", "wall", "mean", "p95", "%", "% of step", "op"],
        ["(no layer told)", "-", "cpu", "10", "150 ms", "150 ms", "15.0 ms", "15.0 ms", "75.0", "75.0", "Relu"],
        ["dense", "forward", "cpu", "10", "50.0 ms", "50.0 ms", "5.00 ms", "5.00 ms", "25.0", "25.0", "MatMul"],
        ["200 ms in all; 150 ms (75.0 %) belong to no layer"],
    ]


@pytest.mark.parametrize(
    ("by", "head", "first"),
    [
        ("kernel", ["layer", "direction", "category", "on"], ["(no layer told)", "-", "elementwise", "cpu"]),
        ("op", ["category", "on"], ["elementwise", "cpu"]),
        ("category", ["on"], ["cpu"]),
        ("direction", ["on"], ["cpu"]),
        ("device", ["device"], ["cpu"]),
        ("step", ["on"], ["cpu"]),
    ],
)
def test_each_grouping_has_its_keys(run: Run, by: str, head: list[str], first: list[str]) -> None:
    """Those by which its rows are told apart."""
    table = rows(printed(run, by))

    assert table[0][: len(head)] == head
    assert table[1][: len(first)] == first


@pytest.mark.parametrize(
    ("by", "last"), [("kernel", "name"), ("device", "kind"), ("step", "step"), ("category", "category")]
)
def test_the_key_that_may_be_long_stands_last(run: Run, by: str, last: str) -> None:
    """Behind the figures."""
    assert rows(printed(run, by))[0][-1] == last


def test_time_with_what_runs_inside_has_own_time_beside_it(run: Run) -> None:
    """By kernel and op only."""
    assert rows(printed(run, "op"))[0][3:5] == ["total", "self"]
    assert "self" not in rows(printed(run, "layer"))[0]


def test_rows_beyond_those_asked_for_are_summed(run: Run) -> None:
    """And all are shown for 0."""
    lines = printed(run, "layer", top=1)

    assert "... 1 more rows, 50.0 ms; --top 0 for all" in lines
    assert len(printed(run, "layer", top=0)) == 4


def test_kernels_of_no_operator_are_named_by_their_category(tmp_path: Path) -> None:
    """In brackets."""
    kernels_ = window([{**DENSE, "op": "x"}])
    kernels_["kernel_ops"][0]["op"] = None

    assert rows(printed(trained(tmp_path / "r", **kernels_), "layer"))[1][-1] == "(matmul)"


def test_a_copy_is_said_to_be_one(tmp_path: Path) -> None:
    """Beside the device that it is of."""
    run = trained(tmp_path / "r", **window([{**DENSE, "kind": "transfer", "device": 0}]))

    assert rows(printed(run, "layer"))[1][2] == "gpu:0 copy"


def test_the_delay_from_launch_to_start_is_shown_where_it_is_known(tmp_path: Path) -> None:
    """Not on the host."""
    on_gpu = window([{**DENSE, "kind": "kernel", "device": 0}])
    for row in on_gpu["kernel_events"]:
        row["delay_ns"] = 2 * MS

    table = rows(printed(trained(tmp_path / "r", **on_gpu), "layer"))

    assert table[0][-2:] == ["launch delay", "op"]
    assert table[1][-2:] == ["2.00 ms", "MatMul"]


def test_events_that_were_dropped_are_told(tmp_path: Path) -> None:
    """Below the table."""
    dropping = window([DENSE])
    dropping["kernel_windows"][0]["dropped"] = 7

    assert printed(trained(tmp_path / "r", **dropping), "layer")[-1].endswith("7 events were dropped by the profiler")


def test_shares_that_are_more_than_a_step_together_are_told(tmp_path: Path) -> None:
    """15 and 10 ms of steps of 20 ms, on two lanes."""
    run = trained(tmp_path / "r", **window([LOOSE, {**DENSE, "ms": 10, "lane": "other"}]))

    assert printed(run, "layer")[-1] == "% of step add up to 125: rows ran beside each other, or one inside another"


def test_a_share_that_is_more_than_a_step_is_told(tmp_path: Path) -> None:
    """Each of ten steps of 20 ms starts 30 ms of work."""
    beyond = window([{**DENSE, "ms": 30}])
    for number, row in enumerate(beyond["kernel_events"]):
        row["start_ns"] += number * 10 * MS

    assert printed(trained(tmp_path / "r", **beyond), "layer")[-1] == (
        "more than 100 % of step: part of that row ran outside of the traced steps"
    )


def test_shares_are_not_told_where_their_column_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow terminal."""
    monkeypatch.setenv("COLUMNS", "100")
    run = trained(tmp_path / "r", **window([LOOSE, {**DENSE, "ms": 10, "lane": "other"}]))

    assert printed(run, "layer", file=Terminal(), plain=True)[-1] == "250 ms in all; 150 ms (60.0 %) belong to no layer"


def test_sums_of_a_profiler_that_keeps_no_times_are_told(tmp_path: Path) -> None:
    """They have neither wall time nor percentiles."""
    sums: dict[str, Any] = {
        "kernel_ops": [{"op_id": 0, "kind": "operator", "name": "dot", "op": "dot"}],
        "kernel_totals": [{"op_id": 0, "device": -1, "count": 3, "total_ns": 6 * MS}],
    }

    lines = printed(trained(tmp_path / "r", **sums), "op")

    assert rows(lines)[1][1:] == ["cpu", "3", "6.00 ms", "6.00 ms", "-", "2.00 ms", "-", "100.0", "-", "dot"]
    assert "sums of a profiler that keeps no times" in lines[-1]


@pytest.mark.parametrize(
    ("probes", "reason"),
    [
        ([], "its profilers kept none"),
        ([{"name": "kernels", "state": "failed", "reason": "no tracer"}], "no tracer"),
        ([{"name": "kernels", "state": "on", "reason": None}], "none ran in a window"),
    ],
)
def test_a_run_without_kernels_says_why(tmp_path: Path, probes: list[dict[str, Any]], reason: str) -> None:
    """In place of a table."""
    assert printed(trained(tmp_path / "r", probes=probes), "layer") == [f"r has no kernels: {reason}"]


def test_rows_by_line_have_its_place_and_its_text(tmp_path: Path) -> None:
    """What no line is known of is a row of its own."""
    run = trained(tmp_path / "r", **window([{**DENSE, "file": "train.py", "line": 2}, LOOSE]))
    keep_source(run, "import jax\n    y = x @ w\n")

    assert rows(printed(run, "line")) == [
        ["made by", "on", "count", "total", "wall", "mean", "p95", "%", "% of step", "source"],
        ["(no line)", "cpu", "10", "150 ms", "150 ms", "15.0 ms", "15.0 ms", "75.0", "75.0"],
        ["train.py:2", "cpu", "10", "50.0 ms", "50.0 ms", "5.00 ms", "5.00 ms", "25.0", "25.0", "y = x @ w"],
        ["200 ms in all; 150 ms (75.0 %) belong to no line"],
    ]


def test_an_engine_that_tells_no_lines_is_said_to_tell_none(run: Run) -> None:
    """Rather than that all of it is of no line."""
    foot = printed(run, "line")[-1]

    assert foot == "200 ms in all; nothing tells the lines: of the engines JAX alone keeps them in its traces"


def folded(run: Run) -> list[str]:
    """The lines of the table by layer, as the command prints it."""
    out = io.StringIO()
    kernel_tables.print_table(run, kernels.summarise(run, "layer", folded=True), "layer", top=40, file=out)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_operators_that_are_told_of_no_layer_are_one_row_with_their_number(tmp_path: Path) -> None:
    """And why is said below."""
    run = trained(tmp_path / "r", **window([DENSE, {**LOOSE, "ms": 5}, {**LOOSE, "op": "Add", "ms": 5}]))

    lines = folded(run)

    assert [(row[0], row[3], row[-1]) for row in rows(lines)[1:3]] == [
        ("(no layer told)", "20", "2 operators"),
        ("dense", "10", "MatMul"),
    ]
    assert lines[-1].startswith("(no layer told): work outside of layers")


def test_where_no_layer_is_told_rows_are_operators(tmp_path: Path) -> None:
    """One row of all would say nothing."""
    run = trained(tmp_path / "r", **window([{**LOOSE, "ms": 5}, {**LOOSE, "op": "Add", "ms": 5}]))

    lines = folded(run)

    assert sorted(row[-1] for row in rows(lines)[1:3]) == ["Add", "Relu"]
    assert lines[-1].startswith("no layer is told: ")
