"""The tables of a run while they are made, and what went wrong meanwhile."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof.ingest.artifact import Health, Skipped
from dlprof.schema.tables import TABLES
from dlprof.store.writer import RowWriter, write_tables


class RunTables:
    """Tables by name.

    Args:
        health: What is known before.
        folder: Where tables of more than a piece are written while they are made; it is the one that all are written
            to in the end. None: they stay in memory.

    Attributes:
        by_name: Those that are in memory.
        health: What the user must know to trust the figures; becomes a table when they are written.
        skipped: Events that readers passed over, by (file, what, why); becomes a table then, too.
    """

    def __init__(self, health: Iterable[Health] = (), folder: Path | None = None) -> None:
        self._folder = folder
        self._written: set[str] = set()
        self.by_name: dict[str, pa.Table] = {}
        self.health = list(health)
        self.skipped: Counter[tuple[str, str, str]] = Counter()

    def names(self) -> frozenset[str]:
        """Those that are there."""
        return frozenset(self.by_name) | self._written

    def get(self, name: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        """A table, or some of its columns; None: there is none."""
        if name in self._written:
            with pq.ParquetFile(self._path(name)) as file:
                return file.read(list(columns) if columns else None)
        table = self.by_name.get(name)
        return table.select(list(columns)) if columns and table is not None else table

    def pieces(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """A table in pieces; none where it is not there."""
        if name not in self._written:
            table = self.get(name, columns)
            yield from () if table is None else (table,)
            return
        with pq.ParquetFile(self._path(name)) as file:
            for batch in file.iter_batches(columns=list(columns) if columns else None):
                yield pa.Table.from_batches([batch])

    def _path(self, name: str) -> Path:
        assert self._folder is not None  # noqa: S101  (nothing is written without one)
        return self._folder / f"{name}.parquet"

    def put(self, tables: Mapping[str, pa.Table]) -> None:
        """Add tables; one that is there already is replaced."""
        self.by_name.update(tables)

    def put_pieces(self, pieces: Iterable[tuple[str, pa.Table]]) -> None:
        """Add tables that come in pieces, those of one table in their order; where that fails none is added.

        Raises:
            CannotCreateError: The folder cannot be written to.
        """
        with self.growing() as tables:
            for name, piece in pieces:
                tables.add(name, piece)

    @contextlib.contextmanager
    def growing(self) -> Iterator[GrowingTables]:
        """Tables to add pieces to, which are added to these at the end; where something is raised none is added.

        Raises:
            CannotCreateError: The folder cannot be written to.
        """
        work = GrowingTables(self._folder)
        try:
            yield work
        except BaseException:
            work.drop()
            raise
        self._written = (self._written - set(work.in_memory)) | work.close()
        self.put(work.in_memory)

    def put_rows(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add a table of rows."""
        self.by_name[name] = pa.Table.from_pylist(list(rows), schema=TABLES[name])

    def append(self, name: str, rows: pa.Table) -> None:
        """Add rows to a table, behind those that are there."""
        before = self.by_name.get(name)
        self.by_name[name] = rows if before is None else pa.concat_tables([before, rows]).unify_dictionaries()

    def skip(self, source: str, skipped: Iterable[Skipped]) -> None:
        """Count what a reader passed over in a file, or in files of one kind."""
        for one in skipped:
            self.skipped[source, one.what, one.why] += one.events

    def write(self, folder: Path, made_of: Mapping[str, int] | None = None) -> None:
        """Write all of them, the health and what was passed over, as Parquet files.

        Args:
            folder: Where to.
            made_of: Raw artifacts that they were made of, to their sizes (bytes).

        Raises:
            CannotCreateError: The folder cannot be written to.
        """
        self.put_rows("health", (vars(entry) for entry in self.health))
        rows = ((*key, events) for key, events in sorted(self.skipped.items()))
        names = ("source", "what", "why", "events")
        self.put_rows("skipped", (dict(zip(names, row, strict=True)) for row in rows))
        write_tables(folder, self.by_name, made_of)


class GrowingTables:
    """Tables that are made of pieces: of one piece in memory, of more in files.

    Args:
        folder: Of the files; None: all stay in memory.

    Attributes:
        in_memory: Those that are there.
    """

    def __init__(self, folder: Path | None) -> None:
        self.in_memory: dict[str, pa.Table] = {}
        self._folder = folder
        self._writers: dict[str, RowWriter] = {}

    def add(self, name: str, piece: pa.Table) -> None:
        """Add rows behind those of the table that are there.

        Raises:
            CannotCreateError: The folder cannot be written to.
        """
        before = self.in_memory.get(name)
        if name in self._writers:
            self._writers[name].write(piece)
        elif before is None or not before.num_rows or not piece.num_rows:
            self.in_memory[name] = piece if before is None or not before.num_rows else before
        elif self._folder is None:
            self.in_memory[name] = pa.concat_tables([before, piece]).unify_dictionaries()
        else:
            writer = self._writers[name] = RowWriter(self._folder, name)
            writer.write(self.in_memory.pop(name))
            writer.write(piece)

    def close(self) -> set[str]:
        """Write the rest; returns the names of the tables that are in files."""
        for writer in self._writers.values():
            writer.close()
        return set(self._writers)

    def drop(self) -> None:
        """Leave no file."""
        for writer in self._writers.values():
            writer.drop()
