"""Columns as lists, and rows as dictionaries."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dlprof.store.values import rows, values


def column(*found: object, kind: pa.DataType) -> pa.ChunkedArray:
    """A column of two chunks."""
    return pa.chunked_array([pa.array(found[:1], kind), pa.array(found[1:], kind)])


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (pa.string(), ["a", "b", None, "b"]),
        (pa.dictionary(pa.int32(), pa.string()), ["a", "b", None, "b"]),
        (pa.string(), ["a"] * 30 + [None]),
        (pa.string(), [None, None]),
        (pa.int32(), [1, 2]),
        (pa.int64(), [None, 1 << 62, None, 0]),
        (pa.float64(), [0.5, None]),
        (pa.bool_(), [True, None, False]),
        (pa.list_(pa.string()), [["a"], None]),
    ],
)
def test_values_are_those_of_the_column(kind: pa.DataType, told: list[Any]) -> None:
    """Of texts, of those that repeat, of whole numbers, with what is missing."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    assert values(column(*told, kind=plain).cast(kind)) == told


@pytest.mark.parametrize("count", [0, 1, 3, 500])
def test_rows_are_dictionaries_of_the_columns(count: int) -> None:
    """Few and many."""
    names = ["step", "file"]
    told = [{"step": number, "file": "a.py" if number % 2 else None} for number in range(count)]
    schema = pa.schema([("step", pa.int64()), ("file", pa.string())])
    found = rows(pa.Table.from_pylist(told, schema=schema))
    assert found == told
    assert [list(row) for row in found] == [names] * count
