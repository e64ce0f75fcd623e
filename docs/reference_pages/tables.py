"""The tables of a run: columns and types from the schema, what they mean from the comments beside them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import pyarrow as pa

from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from reference_pages import markdown as md
from reference_pages import source

FILE = source.DLPROF / "schema" / "tables.py"
UNITS = {
    "_ns": "ns",
    "_bytes": "bytes",
    "_pct": "%",
    "_mhz": "MHz",
    "_c": "°C",
    "_w": "W",
    "_kb_per_s": "kB/s",
}
"""Ending of a column's name to its unit."""
_ABOUT = f"""\
Each table is a Parquet file, `tables/NAME.parquet`, in the run folder, and a table of `dlprof sql`; this is version
{SCHEMA_VERSION} of them. Times count from the moment at which dlprof started the process. Null means that a value was
not measured. For SQL there is also the view `kernels`: each row of `kernel_events` with its row of `kernel_ops`, and
`self_ns`.

Tables that are marked *per process* begin with `host`, `rank` (in a run of several processes, else 0) and `pid`."""


@dataclass(frozen=True)
class Table:
    """A table as its source describes it.

    Attributes:
        name: Its name.
        about: The comment above it.
        columns: Name of each column of its own to the comments at it.
        of_process: Whether it begins with the columns that name the process.
    """

    name: str
    about: str
    columns: dict[str, str]
    of_process: bool


def described() -> list[Table]:
    """All tables, in the order of the source."""
    behind, alone = source.comments(FILE)
    found = []
    for key, value in _entries():
        assert isinstance(value, ast.Call)  # noqa: S101  (each table is a call of `_table`)
        columns, line = {}, key.lineno
        for column in value.args:
            assert isinstance(column, ast.Tuple)  # noqa: S101  (a column is its name and its type)
            over = source.above(alone, column.lineno) if column.lineno > line else ""
            told = (over, behind.get(column.end_lineno or 0, ""))
            columns[source.text_of(column.elts[0])] = " ".join(text for text in told if text)
            line = column.lineno
        of_process = not any(word.arg == "of_process" for word in value.keywords)
        found.append(Table(source.text_of(key), source.above(alone, key.lineno), columns, of_process))
    return found


def _entries() -> list[tuple[ast.expr, ast.expr]]:
    """Names and values of TABLES."""
    node = next(n for n in source.tree(FILE).body if isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == "TABLES")
    content = next(n for n in ast.walk(node) if isinstance(n, ast.Dict))
    return [(key, value) for key, value in zip(content.keys, content.values, strict=True) if key is not None]


def unit(column: str) -> str:
    """The unit that the name of a column tells; empty: a number of things, or no number."""
    return next((shown for ending, shown in UNITS.items() if column.endswith(ending)), "")


def kind(field: pa.Field) -> str:
    """The type of a column, for people."""
    return "text" if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type) else str(field.type)


def page() -> str:
    """The page."""
    parts = [_ABOUT]
    for table in described():
        schema = TABLES[table.name]
        rows = [
            (md.code(name), md.code(kind(schema.field(name))), unit(name), md.prose(text))
            for name, text in table.columns.items()
        ]
        parts.append(f"## {table.name}")
        parts.append(md.prose(table.about) + (" *Per process.*" if table.of_process else ""))
        parts.append(md.table(("column", "type", "unit", "means"), rows))
    return md.page("Tables", *parts)
