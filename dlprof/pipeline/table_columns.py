"""Columns of foreign tables, changed so that the tables fit into a run: process, times, numbers of stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.schema.tables import TABLES

_TIMES = ("start_ns", "time_ns")


def of_process(name: str, columns: pa.Table, process: ProcessId) -> pa.Table:
    """The table of that name: its columns, behind those that name the process."""
    schema = TABLES[name]
    told = (process.host, process.rank, process.pid)
    head = [pa.repeat(pa.scalar(value), columns.num_rows) for value in told]
    filled = [_encoded(array, field.type) for array, field in zip([*head, *columns.columns], schema, strict=True)]
    return pa.table(filled, schema)


def _encoded(array: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    plain = not pa.types.is_dictionary(array.type)
    return (array.dictionary_encode() if plain and pa.types.is_dictionary(kind) else array).cast(kind)


def with_process(name: str, table: pa.Table, process: ProcessId) -> pa.Table:
    """A table of that name with its process columns filled."""
    for column, value in (("host", process.host), ("rank", process.rank), ("pid", process.pid)):
        if column in table.column_names:
            field = TABLES[name].field(column)
            filled = pa.array([value] * table.num_rows, type=field.type)
            table = table.set_column(table.column_names.index(column), field, filled)
    return table


def shifted(table: pa.Table, shift_ns: int) -> pa.Table:
    """A table whose times are later by so much (ns)."""
    for column in _TIMES:
        if shift_ns and column in table.column_names:
            moved = [None if value is None else value + shift_ns for value in table[column].to_pylist()]
            table = _replaced(table, column, moved)
    return table


def renumbered_stacks(table: pa.Table, first: int) -> pa.Table:
    """A table whose stacks are numbered from `first` on, behind those of the files before."""
    if not first or "stack_id" not in table.column_names:
        return table
    return _replaced(table, "stack_id", [number + first for number in table["stack_id"].to_pylist()])


def end_ns(table: pa.Table) -> int:
    """The last moment of a table (ns); 0 where it has no times."""
    ends = [0]
    for column in _TIMES:
        if column in table.column_names and table.num_rows:
            durations = table["dur_ns"].to_pylist() if "dur_ns" in table.column_names else [0] * table.num_rows
            ends += [start + dur for start, dur in zip(table[column].to_pylist(), durations, strict=True)]
    return max(ends)


def _replaced(table: pa.Table, column: str, values: Sequence[Any]) -> pa.Table:
    field = table.schema.field(column)
    return table.set_column(table.column_names.index(column), field, pa.array(values, field.type))
