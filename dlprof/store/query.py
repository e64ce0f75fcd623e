"""SQL over the tables of a run, by DuckDB."""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from dlprof.errors import UsageError
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run

if TYPE_CHECKING:  # large: loaded when there is a query
    import duckdb

_KERNELS = """CREATE TEMP VIEW kernels AS SELECT o.* EXCLUDE (op_id), e.* EXCLUDE (op_id, device),
    CASE WHEN e.device < 0 THEN 'cpu' {others} ELSE 'gpu:' || e.device END AS device,
    e.dur_ns - e.nested_ns AS self_ns
    FROM kernel_events e JOIN kernel_ops o USING (op_id)"""
_OTHER_DEVICE = "WHEN e.device = {number:d} THEN '{kind}:{number:d}'"
_KIND = re.compile(r"[a-z]{1,16}")
_OF_KERNELS = ("kernel_events", "kernel_ops")
"""What the view `kernels` is made of."""
_MAKE_NAMES = {"query_table", "query"}
"""Functions of DuckDB that read tables whose names a query makes up."""
_PIVOT = "MULTI"
"""What DuckDB takes PIVOT for: it looks at the values first."""
LIMITS = ("SET memory_limit = '1GB'", "SET threads = 2", "SET lock_configuration = true")
"""Of queries that nobody has looked at."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """The result of a query: names of the columns, and rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def ask(run: Run, query: str) -> Answer:
    """Ask the tables of a run; each is known by its name, also one that is empty.

    Raises:
        UsageError: DuckDB refuses the query; its own words are in the message. Tables that are lost it does not know.
    """
    return _asked(run, query, lambda connection: _answer(connection, query))


def ask_own(run: Run, query: str) -> Answer:
    """The same for a query of a rule's: in 2 ms instead of 30, as all of them share a database of this process.

    It names the tables that it reads, and makes nothing that stays.

    Raises:
        UsageError: As `ask`.
    """
    with _refusing(run), contextlib.ExitStack() as held:
        connection = held.enter_context(contextlib.closing(_shared().cursor()))
        for name in named(query) - run.lost.keys():
            connection.register(name, run.scannable(name, _plain(TABLES[name]), held))
        if "kernels" in query and run.missing(*_OF_KERNELS) is None:
            connection.execute(_kernels(run))
        return _answer(connection, query)


@functools.cache
def _shared() -> duckdb.DuckDBPyConnection:
    """A database without tables: each of its cursors has its own views."""
    import duckdb  # noqa: PLC0415

    made = duckdb.connect(":memory:")
    made.execute("SET enable_external_access = false")
    return made


def _answer(connection: duckdb.DuckDBPyConnection, query: str) -> Answer:
    result = connection.execute(query)
    return Answer(tuple(column[0] for column in result.description or ()), result.fetchall())


def ask_within(run: Run, query: str, *, rows: int, seconds: float) -> tuple[Answer, bool]:
    """The same for a query that nobody has looked at: it may neither take for ever nor fill the memory or the disk.

    Args:
        run: The run.
        query: The query.
        rows: Rows that are fetched at most.
        seconds: Time that it may take.

    Returns:
        The answer, and whether there are more rows.

    Raises:
        UsageError: DuckDB refuses the query, or it took too long.
    """
    return _asked(run, query, lambda connection: fetched(connection, query, rows, seconds), LIMITS)


def fetched(connection: duckdb.DuckDBPyConnection, query: str, rows: int, seconds: float) -> tuple[Answer, bool]:
    """The first rows of an answer, and whether there are more.

    Raises:
        UsageError: It took too long.
        duckdb.Error: DuckDB refuses the query.
    """
    import duckdb  # noqa: PLC0415

    late = threading.Event()

    def end() -> None:
        late.set()
        connection.interrupt()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        result = connection.execute(query)
        found = result.fetchmany(rows + 1)
    except duckdb.Error:
        if late.is_set():
            raise UsageError(f"The query took more than {seconds:g} s.", hint="ask for less") from None
        raise
    finally:
        timer.cancel()
    columns = tuple(column[0] for column in result.description or ())
    return Answer(columns, found[:rows]), len(found) > rows


def arrow(run: Run, query: str) -> pa.Table:
    """The same as a table of Arrow, with DuckDB's types.

    Raises:
        UsageError: DuckDB refuses the query; its own words are in the message.
    """
    return _asked(run, query, lambda connection: arrow_of(connection, query))


def arrow_of(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """The answer as a table of Arrow."""
    found = connection.sql(query)
    rows = pa.table({}) if found is None else found.arrow()
    return _whole(rows if isinstance(rows, pa.Table) else rows.read_all())  # a reader from DuckDB 1.4 on


def only_asks(query: str) -> None:
    """Refuse what is not one question: of several only the last would be answered, and what is made does not stay.

    Raises:
        UsageError: It is none, several, or one that changes something.
        duckdb.Error: It is no SQL.
    """
    import duckdb  # noqa: PLC0415

    found = duckdb.extract_statements(query)
    if not found:
        raise UsageError("There is no query.", hint="SELECT * FROM phases")
    if len(found) > 1:
        raise UsageError(f"{len(found)} queries were given, and one is answered at a time.", hint="ask them one by one")
    gives = [kind.name for kind in found[0].expected_result_type]
    if found[0].type.name != _PIVOT and gives != ["QUERY_RESULT"]:
        raise UsageError(
            f"{found[0].type.name} asks the tables nothing: they are not changed, and nothing that is made stays.",
            hint="SELECT, WITH ... SELECT, DESCRIBE or SUMMARIZE",
        )


def _kernels(run: Run) -> str:
    """The view `kernels`, with the names of devices that are no GPUs."""
    others = [gpu for gpu in run.manifest.gpus or () if gpu.gpu is not None and gpu.kind != "gpu"]
    known = [gpu for gpu in others if _KIND.fullmatch(gpu.kind)]
    return _KERNELS.format(others=" ".join(_OTHER_DEVICE.format(number=gpu.gpu, kind=gpu.kind) for gpu in known))


def _asked(
    run: Run, query: str, answer: Callable[[duckdb.DuckDBPyConnection], Result], settings: Sequence[str] = ()
) -> Result:
    """What `answer` makes of a connection that knows the tables of a run, and nothing else.

    Tables that the query does not read are empty there.
    """
    import duckdb  # noqa: PLC0415

    read = named(query)
    with _refusing(run), contextlib.ExitStack() as held:
        only_asks(query)
        connection = held.enter_context(contextlib.closing(duckdb.connect(":memory:")))
        for name in TABLES.keys() - run.lost.keys():
            schema = _plain(TABLES[name])
            seen = run.scannable(name, schema, held) if name in read else schema.empty_table()
            connection.register(name, seen)
        if run.missing(*_OF_KERNELS) is None:
            connection.execute(_kernels(run))
        for setting in ("SET enable_external_access = false", *settings):
            connection.execute(setting)
        return answer(connection)


@contextlib.contextmanager
def _refusing(run: Run) -> Iterator[None]:
    """Makes one sentence of what DuckDB says of a query."""
    import duckdb  # noqa: PLC0415

    try:
        yield
    except duckdb.Error as error:
        if "pytz" in str(error):  # DuckDB's own words are a traceback of Python
            hint = "cast it: now()::TIMESTAMP; times of a run are whole nanoseconds"
            raise UsageError("The query failed: a column is a time with a time zone.", hint=hint) from error
        raise UsageError(
            f"The query failed: {error}{_lost(run)}", hint="dlprof sql RUN lists the tables and their columns"
        ) from error


def named(query: str) -> set[str]:
    """The tables that a query may read: those that its words name, or a view of; all where it makes up names."""
    words = set(re.findall(r"\w+", query.lower()))
    if words & _MAKE_NAMES:
        return set(TABLES)
    tables = words & TABLES.keys()
    return tables | set(_OF_KERNELS) if "kernels" in words else tables


def _lost(run: Run) -> str:
    """What a query may have failed for."""
    return "".join(f"\nNot there, because {why}." for why in run.lost.values())


def _whole(table: pa.Table) -> pa.Table:
    """Sums of whole numbers as such: DuckDB gives them 128 bits, which Arrow only has as decimals."""
    for number, field in enumerate(table.schema):
        if field.type == pa.decimal128(38, 0):
            with contextlib.suppress(pa.ArrowInvalid):  # one that is larger than 64 bits
                table = table.set_column(number, field.name, table.column(number).cast(pa.int64()))
    return table


def plain(table: pa.Table) -> pa.Table:
    """Dictionary columns as text: so they are compared and printed."""
    return table.cast(_plain(table.schema))


def _plain(schema: pa.Schema) -> pa.Schema:
    fields = [pa.field(f.name, f.type.value_type) if pa.types.is_dictionary(f.type) else f for f in schema]
    return pa.schema(fields)
