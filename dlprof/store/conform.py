"""Stored tables as the schema has them: what is above the store never meets another type.

A table may be of an older dlprof, which lacked columns, or of a stranger, who wrote what he liked.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dlprof.schema.never_null import NEVER_NULL, WORDS
from dlprof.schema.tables import TABLES

_ROOM = 0.5
"""Share of the machine's memory that a table may take when it is read."""
_AMOUNTS = frozenset(
    {"dur_ns", "interval_ns", "count", "samples", "hits", "steps", "events", "depth", "stack_id", "op_id"}
)
"""Columns that are never negative."""


class UnfitError(ValueError):
    """A table that is not what the schema says; the text is a part of a sentence."""


def refuse_huge(file: pq.ParquetFile, schema: pa.Schema) -> None:
    """Refuse a file that says it has more rows than this machine has room for: a few bytes can say a billion.

    Raises:
        UnfitError: It does.
    """
    width = sum(kind.bit_width if pa.types.is_primitive(kind) else 32 for kind in schema.types) / 8
    rows = file.metadata.num_rows
    most = _machine_bytes()
    if rows < 0 or (most is not None and rows * width > _ROOM * most):
        raise UnfitError(f"it says that it has {rows:,} rows, more than there is memory for")


def _machine_bytes() -> int | None:
    """Memory of this machine; None where it does not tell, as without `/proc`."""
    try:
        return int(psutil.virtual_memory().total)
    except OSError:
        return None


def conformed(name: str, table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """A table with these columns in the types of the schema: those that it lacks are null, its others are left out.

    Args:
        name: Of the table in the schema.
        table: As it was read.
        columns: Names of columns of the schema.

    Raises:
        UnfitError: A column is of another kind, holds what its type cannot have, or lacks what every row has.
    """
    schema = TABLES[name]
    for one in NEVER_NULL.get(name, frozenset()).intersection(columns if table.num_rows else ()):
        if one not in table.schema.names or table.column(one).null_count:
            raise UnfitError(f"its column {one} lacks values")
    made = [_column(table, schema.field(one)) for one in columns]
    for one, column in zip(columns, made, strict=True):
        if (name, one) in WORDS:
            _check_words(one, column, WORDS[name, one])
    return pa.table(made, pa.schema(map(schema.field, columns)))


def known(file: pq.ParquetFile, columns: Sequence[str]) -> list[str]:
    """Those of some columns that a file has, once each.

    Raises:
        UnfitError: It has one of them twice.
    """
    names = file.schema_arrow.names
    twice = next((name for name in columns if names.count(name) > 1), None)
    if twice:
        raise UnfitError(f"it has two columns {twice}")
    return [name for name in columns if name in names]


def _column(table: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    if field.name not in table.schema.names:
        return pa.chunked_array([pa.nulls(table.num_rows, field.type)])
    column = table.column(field.name)
    if column.type != field.type:
        if _kind(column.type) != _kind(field.type):
            raise UnfitError(f"its column {field.name} is of type {column.type}, not {field.type}")
        column = _cast(column, field)
    if _kind(field.type) == "text":
        _check_text(column, field.name)
    elif field.name in _AMOUNTS and (pc.min(column).as_py() or 0) < 0:
        raise UnfitError(f"its column {field.name} holds negative numbers")
    return _finite(column) if pa.types.is_float32(field.type) else column


def _cast(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    try:
        if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(column.type):
            return column.cast(field.type.value_type).dictionary_encode().cast(field.type)
        return column.cast(field.type)
    except (pa.ArrowException, ValueError) as error:
        raise UnfitError(f"its column {field.name} is no {field.type}: {error}") from error


def _kind(kind: pa.DataType) -> str:
    """Types between which nothing is lost or made up: `integer`, `float`, `text`, `bool`, else the type itself."""
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    if pa.types.is_integer(kind):
        return "integer"
    return "float" if pa.types.is_floating(kind) else str(kind)


def _check_words(name: str, column: pa.ChunkedArray, known: type[StrEnum]) -> None:
    for word in pc.unique(column).drop_null().to_pylist():
        try:
            known(word)
        except ValueError:
            raise UnfitError(f"its column {name} holds other words than {', '.join(known)}") from None


def _check_text(column: pa.ChunkedArray, name: str) -> None:
    try:
        column.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        raise UnfitError(f"its column {name} holds what is no text: {error}") from error


def _finite(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Samples that are no number are not known; losses (64 bits) may well be none, and stay."""
    odd = pc.invert(pc.is_finite(column))
    return pc.if_else(odd, pa.scalar(None, column.type), column) if pc.any(odd).as_py() else column
