"""Manifests and tables that were changed at one place: other types, other numbers, nothing at all."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hostile.folders import STEERING

GONE = object()
"""The field is left out."""
_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1e308,
    10**30,
    2**62,
    "x",
    "",
    STEERING,
    [],
    {},
    [[]],
    {"a": 1},
    ["a", 1],
    [{}],
    1.5,
    GONE,
)


def manifests(told: dict[str, Any], count: int, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """So many manifests, each with what was changed in it."""
    every = [(place, value) for place in _places(told) if place for value in _VALUES]
    for place, value in random.Random(seed).sample(every, min(count, len(every))):
        yield f"{'.'.join(map(str, place))}: {'gone' if value is GONE else value!r}", _put(told, place, value)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from _places(one, (*at, name))


def _put(told: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    made = copy.deepcopy(told)
    around: Any = made
    for name in place[:-1]:
        around = around[name]
    if value is GONE:
        del around[place[-1]]
    else:
        around[place[-1]] = value
    return made


def tables(folder: Path, count: int, seed: int) -> Iterator[tuple[str, str, pa.Table]]:
    """So many tables of a folder, each with a column changed: what was changed, the file, the table."""
    every = [(path, at, kind) for path in sorted(folder.glob("*.parquet")) for at, kind in _changes(path)]
    for path, at, kind in random.Random(seed).sample(every, min(count, len(every))):
        table = pq.read_table(path)
        name = table.schema.names[at]
        column = _columns(table.num_rows, table.schema.field(at).type)[kind]
        made = table.drop_columns([name]) if column is None else table.set_column(at, name, column)
        yield f"{path.stem}.{name}: {kind}", path.name, made


def _changes(path: Path) -> Iterator[tuple[int, str]]:
    schema = pq.read_schema(path)
    for at in range(len(schema)):
        for kind in _columns(0, schema.field(at).type):
            yield at, kind


def _columns(rows: int, kind: pa.DataType) -> dict[str, pa.Array | None]:
    """Columns of so many rows; None: it is left out."""
    return {
        "null": pa.nulls(rows, kind),
        "half null": pa.array([None if row % 2 else 1 for row in range(rows)], pa.int64()),
        "text": pa.array([STEERING] * rows, pa.string()),
        "largest": pa.array([2**63 - 1] * rows, pa.int64()),
        "smallest": pa.array([-(2**63)] * rows, pa.int64()),
        "negative": pa.array([-5] * rows, pa.int64()),
        "zero": pa.array([0] * rows, pa.int64()),
        "NaN": pa.array([float("nan")] * rows, pa.float64()),
        "infinite": pa.array([float("inf")] * rows, pa.float64()),
        "truth": pa.array([True] * rows, pa.bool_()),
        "lists": pa.array([[1]] * rows, pa.list_(pa.int64())),
        "no UTF-8": _no_text(rows),
        "bytes": pa.array([b"x"] * rows, pa.binary()),
        "gone": None,
    }


def _no_text(rows: int) -> pa.Array:
    """Texts whose bytes are none."""
    ends = b"".join((2 * row).to_bytes(4, "little") for row in range(rows + 1))
    return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(ends), pa.py_buffer(b"\xff\xfe" * rows)])
