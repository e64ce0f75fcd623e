"""SQL over the tables of all ranks of a training, each with its ranks in a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from dlprof.errors import UsageError
from dlprof.schema.tables import TABLES
from dlprof.store.query import LIMITS, Answer, Result, arrow_of, fetched, named, only_asks, plain
from dlprof.store.ranked import RankedRun
from dlprof.store.run import Run

if TYPE_CHECKING:  # large: loaded when there is a query
    import duckdb

PROGRAM = -1
"""The rank of rows of the program that started the ranks."""
_OF_KERNELS = {"kernel_events", "kernel_ops"}
"""What the view `kernels` is made of."""
_KERNELS = """CREATE VIEW kernels AS SELECT o.* EXCLUDE (op_id), e.* EXCLUDE (op_id, device, rank, host),
    CASE WHEN e.device < 0 THEN 'cpu' ELSE 'gpu:' || e.device END AS device,
    e.dur_ns - e.nested_ns AS self_ns
    FROM kernel_events e JOIN kernel_ops o USING (op_id, rank)"""


def ask(ranked: RankedRun, query: str) -> Answer:
    """Ask the tables of all ranks; each has columns `rank` and `host`, also where the table of one run has none.

    Numbers of operators, stacks and spans are those of a rank: tables are joined by them and `rank`.

    Args:
        ranked: The run.
        query: A query.

    Raises:
        UsageError: DuckDB refuses the query; its own words are in the message.
    """
    return _asked(ranked, query, lambda connection: _answer(connection, query))


def ask_within(ranked: RankedRun, query: str, *, rows: int, seconds: float) -> tuple[Answer, bool]:
    """The same for a query that nobody has looked at; see `dlprof.store.query.ask_within`.

    Raises:
        UsageError: DuckDB refuses the query, or it took too long.
    """
    return _asked(ranked, query, lambda connection: fetched(connection, query, rows, seconds), LIMITS)


def arrow(ranked: RankedRun, query: str) -> pa.Table:
    """The same as a table of Arrow, with DuckDB's types.

    Raises:
        UsageError: DuckDB refuses the query; its own words are in the message.
    """
    return _asked(ranked, query, lambda connection: arrow_of(connection, query))


def _asked(
    ranked: RankedRun,
    query: str,
    answer: Callable[[duckdb.DuckDBPyConnection], Result],
    settings: Sequence[str] = (),
) -> Result:
    """What `answer` makes of a connection that knows the tables of all ranks which the query names."""
    import duckdb  # noqa: PLC0415

    connection = duckdb.connect(":memory:")
    try:
        only_asks(query)
        needed = named(query)  # of a thousand ranks not all tables are read
        for name in needed:
            connection.register(name, table(ranked, name))
        for name in () if needed else TABLES:  # what reads none may list them; to make all takes 30 ms
            connection.register(name, _of_rank(plain(TABLES[name].empty_table()), 0, ""))
        if not needed or needed >= _OF_KERNELS:
            connection.execute(_KERNELS)
        for setting in ("SET enable_external_access = false", *settings):
            connection.execute(setting)
        return answer(connection)
    except duckdb.Error as error:
        raise UsageError(
            f"The query failed: {error}", hint=f"dlprof sql {ranked.typed} lists the tables and their columns"
        ) from error
    finally:
        connection.close()


def _answer(connection: duckdb.DuckDBPyConnection, query: str) -> Answer:
    result = connection.execute(query)
    return Answer(tuple(column[0] for column in result.description or ()), result.fetchall())


def table(ranked: RankedRun, name: str) -> pa.Table:
    """A table with the rows of all ranks, and of the program that started them as those of rank -1.

    Args:
        ranked: The run.
        name: Name of the table.

    Raises:
        BadDataError: The file of one is damaged.
    """
    runs: list[tuple[int, str, Run]] = [(one.rank, one.host, one.run) for one in ranked.members]
    if ranked.program is not None:
        runs.append((PROGRAM, ranked.program.manifest.machine.host, ranked.program))
    return pa.concat_tables([_of_rank(plain(run.table(name)), rank, host) for rank, host, run in runs])


def _of_rank(rows: pa.Table, rank: int, host: str) -> pa.Table:
    size = rows.num_rows
    columns = {"host": pa.array([host] * size, pa.string()), "rank": pa.array([rank] * size, pa.int16())}
    rest = [name for name in rows.column_names if name not in columns]
    return pa.table({**columns, **{name: rows[name] for name in rest}})
