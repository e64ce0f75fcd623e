"""Foreign tables are made to fit into a run."""

from __future__ import annotations

import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.pipeline import table_columns
from dlprof.schema.tables import TABLES


def test_the_process_is_filled_in() -> None:
    """Whatever stood there."""
    table = pa.Table.from_pylist([{"host": None, "rank": 7, "pid": 8}], schema=TABLES["phases"])

    (row,) = table_columns.with_process("phases", table, ProcessId("h", 1, 2, 0)).to_pylist()

    assert (row["host"], row["rank"], row["pid"]) == ("h", 1, 2)


def test_times_are_moved_and_those_that_are_missing_stay_missing() -> None:
    """By 5 ns."""
    table = pa.table({"time_ns": pa.array([1, None], pa.int64()), "other": pa.array([1, 2], pa.int64())})

    assert table_columns.shifted(table, 5).to_pydict() == {"time_ns": [6, None], "other": [1, 2]}


def test_stacks_of_a_second_file_are_numbered_behind_those_of_the_first() -> None:
    """Three stacks came before."""
    table = pa.table({"stack_id": pa.array([0, 1], pa.int32())})

    assert table_columns.renumbered_stacks(table, 3)["stack_id"].to_pylist() == [3, 4]
    assert table_columns.renumbered_stacks(table, 0) is table


def test_the_end_of_a_table_is_its_last_moment() -> None:
    """The end of its longest row, not the start of its last; nothing ends in a table without times."""
    spans = pa.table({"start_ns": [10, 50], "dur_ns": [100, 5]})
    samples = pa.table({"time_ns": [10, 50]})

    assert [table_columns.end_ns(table) for table in (spans, samples, pa.table({"x": [1]}))] == [110, 50, 0]
