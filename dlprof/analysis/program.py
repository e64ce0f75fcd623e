"""Which rows of a table are the program's own, and not those of processes that it started."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.schema.program import others_than_program
from dlprof.schema.vocabulary import ProcessRole, RunState
from dlprof.store.run import Run


def others(run: Run) -> frozenset[int]:
    """Processes whose stacks and lines are not the program's; none in a run of foreign traces."""
    if run.manifest.state == RunState.IMPORTED:
        return frozenset()
    known = run.table("processes", ("pid", "role")).to_pylist()
    workers = {row["pid"] for row in known if row["role"] == ProcessRole.WORKER}
    sampled: set[int] = set()
    for piece in run.pieces("stacks", ("pid",)):
        sampled.update(pc.unique(piece["pid"]).drop_null().to_pylist())
    return others_than_program(sampled, run.manifest.process.pid, workers)


def rows_of(table: pa.Table, beside: Collection[int]) -> pa.Table:
    """The rows of a table that are the program's own.

    Args:
        table: With a column `pid`.
        beside: Processes that are not the program.
    """
    if not beside:
        return table
    return table.filter(pc.invert(pc.is_in(table["pid"], pa.array(sorted(beside), table["pid"].type))))


def rows_beside(table: pa.Table, beside: Collection[int]) -> pa.Table:
    """The rows of a table that are of processes beside the program; the same as of `rows_of`."""
    return table.filter(pc.is_in(table["pid"], pa.array(sorted(beside), table["pid"].type)))


def pieces_of(run: Run, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The program's own rows of a table, piece by piece.

    Args:
        run: The run.
        table: One with a column `pid`.
        columns: That are read, `pid` among them; None: all.
    """
    beside = others(run)
    for piece in run.pieces(table, columns):
        yield rows_of(piece, beside)
