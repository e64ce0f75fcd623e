"""A stored run: the object that every analysis and report takes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import structs

from dlprof import safe_files
from dlprof.errors import BadDataError
from dlprof.run_names import name_to_type
from dlprof.rundir import RunDir
from dlprof.schema.manifest import HealthEntry, Manifest
from dlprof.schema.tables import SCHEMA_VERSION, TABLES
from dlprof.store import conform, quiet_arrow, values

if TYPE_CHECKING:
    import pyarrow.dataset as ds

quiet_arrow.settle()
T = TypeVar("T")
_DESCRIPTORS = next((each for each in ("/proc/self/fd", "/dev/fd") if os.path.isdir(each)), None)  # noqa: PTH112
"""Where an open file can be opened again by its number: Linux, and other systems; None: `/proc` is not mounted."""
_REOPENED = _DESCRIPTORS == "/proc/self/fd"
"""Whether what is opened there has a position of its own."""
_SMALL_ROWS = 4096
"""Rows of a table that is kept as a whole once a part of it was asked for."""


@dataclass
class Run:
    """A run folder with its tables, read when they are first asked for."""

    folder: RunDir
    manifest: Manifest
    """See `dlprof help run-folder`."""
    _tables: dict[str, pa.Table] = field(default_factory=dict, repr=False)
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    said: tuple[HealthEntry, ...] = ()
    """What was found when the run was opened: lines of its table `health` that are not stored."""
    lost: Mapping[str, str] = field(default_factory=dict)
    """Tables that were written and cannot be read, each with the reason as a clause: they read as empty."""

    @property
    def name(self) -> str:
        """The run's name: that of its folder."""
        return self.folder.path.name

    @property
    def typed(self) -> str:
        """What a user types for the run: `last`, its name, or its path."""
        return name_to_type(self.folder)

    @property
    def wall_ns(self) -> int | None:
        """Wall time of the traced process, from start to end (ns); None when it is not known."""
        return self.manifest.process.wall_ns

    @property
    def backend(self) -> str | None:
        """The managed backend that was asked for, else the one that Keras said it ran on; None: not known."""
        return self.manifest.asked_or_told

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A table of the run; one that was not written is empty, with its schema.

        Args:
            name: Name of the table.
            columns: Only these; of large tables nothing else is read, and they are not kept.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        if name in self._tables:
            return self._tables[name].select(columns) if columns else self._tables[name]
        table, whole = self._read(name, None if self._adds_to(name) else columns)
        if self._adds_to(name):
            said = pa.Table.from_pylist([structs.asdict(entry) for entry in self.said], schema=TABLES[name])
            table = pa.concat_tables([table.cast(TABLES[name]), said]).unify_dictionaries()
        if whole:
            self._tables[name] = table
        return table.select(columns) if columns else table

    def row_count(self, name: str) -> int:
        """Rows of a table; of a large one no more than a column is read for that."""
        return int(self.table(name, TABLES[name].names[:1]).num_rows)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A table as a list of dictionaries, for small tables."""
        return values.rows(self.table(name))

    def has(self, name: str) -> bool:
        """Whether a table can be read; one that was not written, or is lost, reads as empty."""
        return name not in self.lost and safe_files.is_file(self.folder.path, f"tables/{name}.parquet")

    def missing(self, *names: str) -> str | None:
        """Why tables cannot be shown, as a clause, where one of them is lost; None: none is."""
        return next((self.lost[name] for name in names if name in self.lost), None)

    def require(self, *names: str) -> None:
        """For who shows nothing but these tables.

        Raises:
            BadDataError: One of them is lost.
        """
        why = self.missing(*names)
        if why is not None:
            raise BadDataError(f"This cannot be told of {self.name}, because {why}.")

    def count(self, name: str) -> int:
        """Number of rows of a table, without reading them.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        whole = self._whole(name)
        if whole is not None:
            return int(whole.num_rows)
        with self._opened(name) as file:
            return int(file.metadata.num_rows) if file else 0

    def chosen(
        self, name: str, column: str, wanted: Collection[Any], columns: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """The few rows of a large table that have one of some values in a column, as dictionaries.

        Args:
            name: Name of the table.
            column: The column, of texts or numbers.
            wanted: Its values.
            columns: What the dictionaries hold; None: all columns.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        plain = TABLES[name].field(column).type
        those = pa.array(list(wanted), plain.value_type if pa.types.is_dictionary(plain) else plain)
        read = None if columns is None else [*dict.fromkeys((*columns, column))]
        found = []
        for piece in self.pieces(name, read):
            own = piece.filter(pc.is_in(piece[column].cast(those.type), those))
            found += values.rows(own.select(list(columns)) if columns else own)
        return found

    def pieces(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """A table in pieces, for what need not have it in memory as a whole; an empty one has none.

        Args:
            name: Name of the table.
            columns: Only these.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        names = list(columns or TABLES[name].names)
        whole = self._whole(name)
        if whole is not None:
            if whole.num_rows:
                yield whole.select(names)
            return
        with self._opened(name) as file:
            for batch in file.iter_batches(columns=conform.known(file, names)) if file else ():
                yield conform.conformed(name, pa.Table.from_batches([batch]), names)

    def scannable(self, name: str, schema: pa.Schema, held: contextlib.ExitStack) -> pa.Table | ds.Dataset:
        """A table for a query: a large one stays in its file, and is read piece by piece, as often as it is asked for.

        Args:
            name: Name of the table.
            schema: Types that the query is to see.
            held: Keeps its file open.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        if name in self._tables or self._adds_to(name) or not _REOPENED:
            return self.table(name).cast(schema)
        for _piece in self.pieces(name):
            pass  # each was looked at: the query meets nothing that others would not
        if name in self._tables or not self.has(name):
            return self.table(name).cast(schema)
        import pyarrow.dataset as ds  # noqa: PLC0415  (it loads pandas, where that is installed)

        source = held.enter_context(safe_files.opened(self.folder.path, f"tables/{name}.parquet"))
        return ds.dataset(f"{_DESCRIPTORS}/{source.fileno()}", schema=schema, format="parquet")

    def filtered(self, name: str, columns: Sequence[str], keep: Callable[[pa.Table], Any]) -> pa.Table:
        """The few rows of a large table for which something holds.

        Args:
            name: Name of the table.
            columns: Those of the result; `keep` sees no others.
            keep: Gives truths for the rows of a piece, as Arrow has them; null is no.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        found = [piece.filter(keep(piece)) for piece in self.pieces(name, columns)]
        if len(found) == 1:
            return found[0]
        none = TABLES[name].empty_table().select(list(columns))
        return pa.concat_tables([none, *found]).unify_dictionaries()

    def once(self, name: str, make: Callable[[Run], T]) -> T:
        """What `make` makes of the run: made when it is first asked for by this name, and kept."""
        if name not in self._made:
            self._made[name] = make(self)
        return self._made[name]  # type: ignore[no-any-return]

    def _adds_to(self, name: str) -> bool:
        return name == "health" and bool(self.said)

    def _read(self, name: str, columns: Sequence[str] | None) -> tuple[pa.Table, bool]:
        """A table as its file has it, and whether that is all of it: of a large one only the columns."""
        schema = TABLES[name]
        with self._opened(name) as file:
            if file is None:
                return schema.empty_table(), True
            if columns is None or _is_small(file):
                return _read_columns(name, file, schema.names), True
            return _read_columns(name, file, columns), False

    def _whole(self, name: str) -> pa.Table | None:
        """A table that is kept, or is from now on, because it is small or was not written; None: it is large."""
        if name not in self._tables and not self._adds_to(name):
            with self._opened(name) as file:
                if file is not None and not _is_small(file):
                    return None
                names = TABLES[name].names
                self._tables[name] = TABLES[name].empty_table() if file is None else _read_columns(name, file, names)
        return self.table(name)

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[pq.ParquetFile | None]:
        """The file of a table; None where it was not written."""
        path = self.folder.place / "tables" / f"{name}.parquet"
        try:
            with contextlib.ExitStack() as held:
                file = self._file(name, held)
                version = int((file.schema_arrow.metadata or {}).get(b"dlprof_schema_version", b"0")) if file else 0
                if version > SCHEMA_VERSION:
                    raise BadDataError(
                        f"{path} was made by a newer dlprof (schema {version}).", hint="pip install -U dlprof"
                    )
                yield file
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadDataError(
                f"{path} cannot be read: {error}.", hint=f"dlprof report {self.typed} --rebuild"
            ) from error

    def _file(self, name: str, held: contextlib.ExitStack) -> pq.ParquetFile | None:
        if name in self.lost:
            return None
        try:
            source = held.enter_context(safe_files.opened(self.folder.path, f"tables/{name}.parquet"))
        except FileNotFoundError:
            return None
        # By its descriptor: the name may be another file's by now.
        mapped = source if _DESCRIPTORS is None else pa.memory_map(f"{_DESCRIPTORS}/{source.fileno()}")
        held.enter_context(mapped)
        file = held.enter_context(pq.ParquetFile(mapped, page_checksum_verification=True))
        conform.refuse_huge(file, TABLES[name])
        return file


def _is_small(file: pq.ParquetFile) -> bool:
    """Whether a table is read as a whole once: to open its file again costs more than to keep it."""
    return int(file.metadata.num_rows) <= _SMALL_ROWS


def _read_columns(name: str, file: pq.ParquetFile, columns: Sequence[str]) -> pa.Table:
    read = file.read(conform.known(file, columns), use_threads=not _is_small(file))
    # Each piece that was written has a dictionary of its own: Arrow groups by none of several.
    return conform.conformed(name, read, columns).unify_dictionaries()
