"""The tables of a run as they are exported: piece by piece, without dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from dlprof.rundir import writing_into
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run

ABOUT = """\
The tables of a run of dlprof. All times are integer nanoseconds on the run's timeline, whose zero is the start of the
process. The name of a column ends with its unit: _ns, _pct, _bytes, _mhz. What was not measured is empty, never 0.
"""


def plain(schema: pa.Schema) -> pa.Schema:
    """The schema with text where it has dictionaries of text, in lists, too."""
    return pa.schema([pa.field(column.name, _plain_type(column.type)) for column in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def pieces(run: Run, name: str) -> Iterator[pa.Table]:
    """A table in pieces that fit into memory."""
    for piece in run.pieces(name):
        yield piece.cast(plain(TABLES[name]))


def write_folder(run: Run, folder: Path, ending: str, write: Callable[[Iterator[pa.Table], Path], None]) -> str:
    """Write each table that has rows to a file of its own, and what its columns mean.

    Args:
        run: The run.
        folder: Where to.
        ending: Of the files' names; files of tables that this run does not have are removed.
        write: Writes the pieces of one table, at least one, to a file.

    Returns:
        How much was written.

    Raises:
        CannotCreateError: The folder cannot be written to.
    """
    written = 0
    with writing_into(folder):
        lost = "".join(f"Not here is {name}, because {why}.\n" for name, why in run.lost.items())
        (folder / "tables.txt").write_text(ABOUT + lost, encoding="utf-8")
        for name in TABLES:
            path = folder / f"{name}{ending}"
            path.unlink(missing_ok=True)
            if run.count(name):
                write(pieces(run, name), path)
                written += 1
    return f"{written} tables{''.join(f', without {name}: {why}' for name, why in run.lost.items())}"
