"""`dlprof sql`: the tables of a run."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.store.run import Run

EXAMPLES = """\
examples:
  dlprof sql last                                  the tables, their columns and units
  dlprof sql last "SELECT phase, dur_ns / 1e6 AS ms FROM phases ORDER BY ms DESC"
  dlprof sql last "SELECT name, dur_ns FROM spans WHERE kind = 'import' ORDER BY dur_ns DESC LIMIT 10"
  dlprof sql last --format csv "SELECT * FROM steps" > steps.csv"""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    query: str | None
    format: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="run folder, name of a run, or `last`")
    parser.add_argument("query", nargs="?", metavar="SELECT", help="the query; without one, the tables are listed")
    parser.add_argument(
        "--format", choices=("table", "csv", "json", "markdown"), default="table", help="of the answer (default: table)"
    )


def run(args: Arguments) -> int:
    """Print the answer."""
    from dlprof.pipeline.opening import open_run

    opened = open_run(args.run)
    if args.query is None:
        _PRINTERS[args.format](("table", "rows", "columns"), _tables(opened))
        return 0
    from dlprof.store import query

    answer = query.ask(opened, args.query)
    _PRINTERS[args.format](answer.columns, answer.rows)
    return 0


def _tables(run: Run) -> list[tuple[Any, ...]]:
    from dlprof.schema.tables import TABLES

    return [(name, run.table(name).num_rows, ", ".join(schema.names)) for name, schema in TABLES.items()]


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from rich.table import Table

    from dlprof.report.console import make_console
    from dlprof.units import safe

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, name in enumerate(columns):
        number = all(isinstance(row[index], int | float) for row in rows) and bool(rows)
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*["" if value is None else safe(str(value)) for value in row])
    make_console(sys.stdout).print(table, markup=False)


def _print_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(columns)
    writer.writerows(rows)


def _print_json(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from dlprof.report.json_text import print_json

    print_json([dict(zip(columns, row, strict=True)) for row in rows])


def _print_markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    for row in (columns, ["---"] * len(columns), *rows):
        print("| " + " | ".join("" if value is None else str(value).replace("|", "\\|") for value in row) + " |")


_PRINTERS = {"table": _print_table, "csv": _print_csv, "json": _print_json, "markdown": _print_markdown}
