"""`dlprof sql`: the tables of a run."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dlprof.cli.command import add_run

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.store.ranked import RankedRun
    from dlprof.store.run import Run

EXAMPLES = """\
examples:
  dlprof sql                                       the tables of the last run, their columns and units
  dlprof sql "SELECT * FROM phases"
  dlprof sql last "SELECT phase, dur_ns / 1e6 AS ms FROM phases ORDER BY ms DESC"
  dlprof sql last "SELECT name, dur_ns FROM spans WHERE kind = 'import' ORDER BY dur_ns DESC LIMIT 10"
  dlprof sql runs/ddp "SELECT rank, median(dur_ns) FROM steps GROUP BY rank"    all ranks of a training
  dlprof sql last --format csv "SELECT * FROM steps" > steps.csv"""


_WIDEST = 120
"""Characters of a cell in an answer that is printed as a table, at most; other formats have all of it."""
AnswerRow = Mapping[str, Any]
"""A row of an answer, as `--format json` has it: a value for each column."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    query: str | None
    format: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument("query", nargs="?", metavar="SELECT", help="the query; without one, the tables are listed")
    parser.add_argument(
        "--format", choices=("table", "csv", "json", "markdown"), default="table", help="of the answer (default: table)"
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")


def run(args: Arguments) -> int:
    """Print the answer."""
    from dlprof.pipeline import ranked
    from dlprof.pipeline.opening import open_run

    run, text = _run_and_query(args)
    ranks = ranked.find(run)
    if ranks is not None:
        return _of_ranks(ranks, text, args.format)
    opened = open_run(run)
    if text is None:
        _PRINTERS[args.format](("table", "rows", "columns"), _tables(opened))
        return 0
    from dlprof.store import query

    answer = query.ask(opened, text)
    _print_answer(args.format, answer.columns, answer.rows)
    return 0


def _of_ranks(ranks: RankedRun, text: str | None, form: str) -> int:
    """The same of a run of ranks: each table has a column `rank`."""
    from dlprof.schema.tables import TABLES
    from dlprof.store import ranked_query

    if text is None:
        rows = []
        for name, schema in TABLES.items():
            columns = dict.fromkeys(("host", "rank", *schema.names))
            count = sum(member.run.count(name) for member in ranks.members if name not in member.run.lost)
            rows.append((name, count, ", ".join(columns)))
        _PRINTERS[form](("table", "rows", "columns"), rows)
        return 0
    answer = ranked_query.ask(ranks, text)
    _print_answer(form, answer.columns, answer.rows)
    return 0


def _print_answer(form: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print it in this format; in a table, cells that are too wide for one are shortened, which is said below it."""
    if form != "table":
        _PRINTERS[form](columns, rows)
        return
    shown = [[_shortened(value) for value in row] for row in rows]
    _print_table(columns, shown)
    count = sum(was is not now for row, cut in zip(rows, shown, strict=True) for was, now in zip(row, cut, strict=True))
    if count:
        from rich.text import Text

        from dlprof.report.console import make_console

        cells = "1 cell is" if count == 1 else f"{count} cells are"
        note = f"{cells} shortened, to {_WIDEST} characters at most: --format csv or json has them whole"
        make_console(sys.stdout).print(Text(note, "dim"))


def _shortened(value: Any) -> Any:
    """A value that fits into a cell: the first items of a long list, and how many there are; ends of a long text."""
    text = str(value)
    if len(text) <= _WIDEST:
        return value
    return _first_items(value) if isinstance(value, list) else _ends(text)


def _first_items(values: Sequence[Any]) -> str:
    end = f", …] ({len(values)} items)"
    room = _WIDEST - len(end) - len("[")
    text = ""
    for value in values:
        longer = f"{text}, {value!r}" if text else repr(value)
        if len(longer) > room:
            break
        text = longer
    return f"[{text}{end}" if text else _ends(str(values))


def _ends(text: str) -> str:
    """A text without its middle: what a path or a name begins and ends with tells most."""
    half, rest = divmod(_WIDEST - 1, 2)
    return f"{text[: half + rest]}…{text[-half:]}"


def _run_and_query(args: Arguments) -> tuple[str, str | None]:
    """A single word with blanks is a query of the last run, unless a run has that name; a query may stand first."""
    from dlprof.run_names import is_run

    if args.query is None and len(args.run.split()) > 1 and not is_run(args.run):
        return "last", args.run
    if args.query is not None and _is_query(args.run) and not _is_query(args.query) and not is_run(args.run):
        return args.query, args.run
    return args.run, args.query


def _is_query(text: str) -> bool:
    """Whether this can only be meant as one."""
    words = text.split()
    return len(words) > 1 and words[0].lower() in ("select", "with", "from")


def _tables(run: Run) -> list[tuple[Any, ...]]:
    from dlprof.schema.tables import TABLES

    return [
        (name, None if name in run.lost else run.count(name), ", ".join(schema.names))
        for name, schema in TABLES.items()
    ]


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
    writer.writerows([_cell(value) for value in row] for row in (columns, *rows))


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; a number is what it is."""
    from dlprof.export.csv_folder import harmless

    return harmless(value) if isinstance(value, str) else value


def _print_json(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from dlprof.report.json_text import print_json

    print_json([dict(zip(columns, row, strict=True)) for row in rows])


def _print_markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    cells = [[_words(value) for value in row] for row in (columns, *rows)]
    for line in (cells[0], ["---"] * len(columns), *cells[1:]):
        print(f"| {' | '.join(line)} |")


def _words(value: Any) -> str:
    """A cell in which nothing is Markdown or HTML."""
    from dlprof.report.markdown_text import plain

    if isinstance(value, int | float):
        return str(value)
    return "" if value is None else plain(str(value))


_PRINTERS = {"table": _print_table, "csv": _print_csv, "json": _print_json, "markdown": _print_markdown}
