"""The figures of a run as frames."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlprof
from dlprof.errors import UsageError
from dlprof.notebook.views import RunView
from tests.unit import runs
from tests.unit.notebook.kernels import KERNELS
from tests.unit.runs import MS, S


def test_phases_are_indexed_by_name_and_keep_whole_nanoseconds(trained: RunView) -> None:
    """Values as in the table."""
    frame = trained.phases()

    assert list(frame.columns) == ["parent", "dur_ns", "count"]
    assert frame.loc["fit.steps"].to_dict() == {"parent": "fit", "dur_ns": 5 * S, "count": 1}
    assert str(frame["dur_ns"].dtype) == "int64[pyarrow]"
    assert frame["dur_ns"][frame["parent"].isna()].sum() == trained.wall_ns == 10 * S
    assert trained.wall_s == 10.0


def test_steps_leave_out_what_is_the_same_in_all_rows_and_tables_keep_it(trained: RunView) -> None:
    """Host, rank and process."""
    assert list(trained.steps().columns)[:3] == ["thread_id", "loop", "loop_id"]
    assert list(trained.table("steps").columns)[:3] == ["host", "rank", "pid"]
    assert len(trained.steps()) == 250
    assert trained.steps()["dur_ns"].mean() == 20 * MS


def test_an_empty_table_has_its_columns(trained: RunView) -> None:
    """So that what a notebook does with it works without a GPU too."""
    assert trained.gpu().empty
    assert "utilisation_pct" in trained.gpu().columns
    assert trained.machine().index.name == "time_ns"
    assert list(trained.stacks().columns) == ["phase", "dur_ns", "share", "function", "file", "line", "stack"]


def test_an_unknown_table_is_refused_with_those_that_there_are(trained: RunView) -> None:
    """As a hint."""
    with pytest.raises(UsageError, match=r"There is no table step\.") as caught:
        trained.table("step")
    assert "steps" in str(caught.value.hint)


def test_sql_answers_with_a_frame(trained: RunView) -> None:
    """With whole numbers where DuckDB sums whole numbers."""
    frame = trained.sql("SELECT loop, count(*) AS steps, sum(dur_ns) AS dur_ns FROM steps GROUP BY loop")

    assert frame.to_dict("records") == [{"loop": "train", "steps": 250, "dur_ns": 5 * S}]
    assert str(frame["dur_ns"].dtype) == "int64[pyarrow]"


def test_sql_that_finds_nothing_is_an_empty_frame(trained: RunView) -> None:
    """With its columns."""
    frame = trained.sql("SELECT loop FROM steps WHERE loop = 'none'")

    assert (len(frame), list(frame.columns)) == (0, ["loop"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE t (a INT)", "CREATE asks the tables nothing"),
        ("SELECT 1; SELECT 2", "2 queries were given"),
        ("", "There is no query"),
        (3, "A query is a text"),
    ],
)
def test_sql_that_asks_nothing_or_several_things_is_refused(trained: RunView, text: str, message: str) -> None:
    """What is answered is what was asked."""
    with pytest.raises(UsageError, match=message):
        trained.sql(text)


@pytest.mark.parametrize("top", [-1, 0, "x", True, 1.5])
def test_so_many_stacks_are_refused_also_where_there_are_none(trained: RunView, top: int) -> None:
    """A whole number from 1 on is needed."""
    with pytest.raises(UsageError, match="top is a whole number from 1 on"):
        trained.stacks(top)


@pytest.mark.parametrize("given", [[], None, 3])
def test_what_is_no_name_is_refused_as_one_that_there_is_not(trained: RunView, given: str) -> None:
    """Of tables, and of what kernels are summed by."""
    with pytest.raises(UsageError, match="There is no table"):
        trained.table(given)
    with pytest.raises(UsageError, match="Kernels cannot be summed by"):
        trained.kernels(given)


def test_sql_that_duckdb_refuses_is_a_usage_error(trained: RunView) -> None:
    """With DuckDB's words."""
    with pytest.raises(UsageError, match="The query failed"):
        trained.sql("SELECT nothing FROM nowhere")


def test_kernels_by_layer_have_the_columns_of_the_command(tmp_path: Path) -> None:
    """The same sums, and shares of all time."""
    runs.trained(tmp_path / "a", **runs.window(KERNELS))
    frame = dlprof.open(tmp_path / "a").kernels()

    assert list(frame.columns[:6]) == ["layer", "direction", "op", "category", "kind", "device"]
    assert frame["layer"].to_list()[0] == "dense"
    assert frame["layer"].isna().to_list() == [False, True]
    assert frame[["count", "total_ns", "share"]].to_dict("records") == [
        {"count": 10, "total_ns": 30 * MS, "share": 0.75},
        {"count": 10, "total_ns": 10 * MS, "share": 0.25},
    ]
    assert frame["flops"].isna().all()


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("kernel", ["layer", "direction", "op", "category", "name", "kind", "device"]),
        ("op", ["op", "category", "kind", "device"]),
        ("category", ["category", "kind", "device"]),
        ("direction", ["direction", "kind", "device"]),
        ("device", ["kind", "device"]),
        ("step", ["step", "kind", "device"]),
    ],
)
def test_kernels_by_all_else_have_its_keys(tmp_path: Path, by: str, keys: list[str]) -> None:
    """Before the figures."""
    runs.trained(tmp_path / "a", **runs.window(KERNELS))
    frame = dlprof.open(tmp_path / "a").kernels(by)

    assert list(frame.columns)[: len(keys) + 1] == [*keys, "count"]
    assert frame["self_ns"].sum() == 40 * MS


def test_kernels_by_something_unknown_are_refused(trained: RunView) -> None:
    """With what there is."""
    with pytest.raises(UsageError, match=r"Kernels cannot be summed by colour\."):
        trained.kernels("colour")


def test_stacks_are_the_longest_of_each_phase(tmp_path: Path) -> None:
    """With the innermost function, and those around it."""
    main = {"thread_id": 42, "thread": "MainThread"}
    runs.make(
        tmp_path / "a",
        phase_intervals=runs.intervals(("fit.steps", 0, 4)),
        stacks=[
            {**main, "start_ns": 0, "dur_ns": 3 * S, "stack_id": 0},
            {**main, "start_ns": 3 * S, "dur_ns": S, "stack_id": 1},
        ],
        frames=[
            {"stack_id": 0, "depth": 0, "function": "<module>", "file": "train.py", "line": 3},
            {"stack_id": 0, "depth": 1, "function": "step", "file": "model.py", "line": 9},
            {"stack_id": 1, "depth": 0, "function": "<module>", "file": "train.py", "line": 4},
        ],
    )

    (row,) = dlprof.open(tmp_path / "a").stacks(top=1).to_dict("records")

    assert (row["phase"], row["dur_ns"], row["share"]) == ("fit.steps", 3 * S, 0.75)
    assert (row["function"], row["file"], row["line"]) == ("step", "model.py", 9)
    assert row["stack"] == "step (model.py:9) < <module> (train.py:3)"


def test_samples_of_cores_are_rows(tmp_path: Path) -> None:
    """In percent of the core."""
    runs.make(tmp_path / "a", cores=[{"time_ns": S, "interval_ns": S, "core": 1, "busy_pct": 50.0}])

    frame = dlprof.open(tmp_path / "a").cores()

    assert frame[["core", "busy_pct"]].to_dict("records") == [{"core": 1, "busy_pct": 50.0}]


def test_epochs_and_lines_leave_out_what_is_the_same_in_all_rows(tmp_path: Path) -> None:
    """Host, rank and process."""
    runs.make(tmp_path / "a", epochs=[{"loop_id": 1, "epoch": 0, "start_ns": 0, "dur_ns": S, "steps": 2}])
    run = dlprof.open(tmp_path / "a")

    assert "host" not in {*run.epochs().columns, *run.lines().columns}
    assert run.epochs()["steps"].to_list() == [2]
