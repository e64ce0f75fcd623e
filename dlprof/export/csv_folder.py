"""The tables of a run as CSV files.

A spreadsheet takes a cell that begins with one of = + - @ for a formula. Names in a run come from outside, so such
texts get an apostrophe before them; numbers are left as they are. CSV has no lists: they are written as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from dlprof.export import tables
from dlprof.store.run import Run

_FORMULA = r"^[=+\-@\t\r]"


def write(run: Run, folder: Path) -> str:
    """Write the files; see `dlprof.export.tables.write_folder`.

    Raises:
        CannotCreateError: The folder cannot be written to.
    """
    return tables.write_folder(run, folder, ".csv", _write)


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if re.match(_FORMULA, text) else text


def _write(pieces: Iterator[pa.Table], path: Path) -> None:
    first = _cells(next(pieces))
    with csv.CSVWriter(path, first.schema) as out:
        out.write_table(first)
        for piece in pieces:
            out.write_table(_cells(piece))


def _cells(table: pa.Table) -> pa.Table:
    """The table as CSV can hold it: lists as JSON, and without texts that are formulas."""
    for at, column in enumerate(table.schema):
        if pa.types.is_list(column.type):
            table = table.set_column(at, column.name, pa.array(map(_as_json, table[at].to_pylist()), pa.string()))
        elif pa.types.is_string(column.type):
            mended = pc.replace_substring_regex(table[at], f"({_FORMULA})", r"'\1")
            table = table.set_column(at, column, mended)
    return table


def _as_json(values: list[Any] | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False)
