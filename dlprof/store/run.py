"""A stored run: the object that every analysis and report takes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import structs

from dlprof.errors import BadDataError
from dlprof.rundir import RunDir
from dlprof.schema.manifest import HealthEntry, Manifest
from dlprof.schema.tables import SCHEMA_VERSION, TABLES


@dataclass
class Run:
    """A run folder with its tables, read when they are first asked for."""

    folder: RunDir
    manifest: Manifest
    """See `dlprof help run-folder`."""
    _tables: dict[str, pa.Table] = field(default_factory=dict, repr=False)
    said: tuple[HealthEntry, ...] = ()
    """What was found when the run was opened: lines of its table `health` that are not stored."""

    @property
    def name(self) -> str:
        """The run's name: that of its folder."""
        return self.folder.path.name

    @property
    def wall_ns(self) -> int | None:
        """Wall time of the traced process, from start to end (ns); None when it is not known."""
        return self.manifest.process.wall_ns

    @property
    def backend(self) -> str | None:
        """The managed backend that was asked for, else the one that Keras said it ran on; None: not known."""
        asked, told = self.manifest.backend.name, self.manifest.keras_backend
        managed = self.manifest.backend.source == "managed"
        return (asked or told) if managed else (told or asked)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A table of the run; one that was not written is empty, with its schema.

        Args:
            name: Name of the table.
            columns: Only these; for large tables, which are not kept then.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        if name in self._tables:
            return self._tables[name].select(columns) if columns else self._tables[name]
        table = self._read(name, None if self._adds_to(name) else columns)
        if self._adds_to(name):
            said = pa.Table.from_pylist([structs.asdict(entry) for entry in self.said], schema=TABLES[name])
            table = self._tables[name] = pa.concat_tables([table.cast(TABLES[name]), said]).unify_dictionaries()
            return table.select(columns) if columns else table
        if not columns:
            self._tables[name] = table
        return table

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A table as a list of dictionaries, for small tables."""
        return self.table(name).to_pylist()  # type: ignore[no-any-return]

    def has(self, name: str) -> bool:
        """Whether a table was written; one that was not reads as empty."""
        return (self.folder.tables / f"{name}.parquet").is_file()

    def count(self, name: str) -> int:
        """Number of rows of a table, without reading them.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        if self._adds_to(name):
            return int(self.table(name).num_rows)
        with self._opened(name) as file:
            return int(file.metadata.num_rows) if file else 0

    def pieces(self, name: str) -> Iterator[pa.Table]:
        """A table in pieces, for what need not have it in memory as a whole; an empty one has none.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        schema = TABLES[name]
        if self._adds_to(name):
            yield self.table(name)
            return
        with self._opened(name) as file:
            for batch in file.iter_batches() if file else ():
                yield _complete(pa.Table.from_batches([batch]), schema.names, schema).cast(schema)

    def _adds_to(self, name: str) -> bool:
        return name == "health" and bool(self.said)

    def _read(self, name: str, columns: Sequence[str] | None) -> pa.Table:
        schema = TABLES[name]
        with self._opened(name) as file:
            if file is None:
                return schema.empty_table().select(columns or schema.names)
            return _complete(file.read(columns), columns or schema.names, schema)

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[pq.ParquetFile | None]:
        """The file of a table; None where it was not written."""
        path = self.folder.tables / f"{name}.parquet"
        if not path.is_file():
            yield None
            return
        try:
            with pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
                version = int((file.schema_arrow.metadata or {}).get(b"dlprof_schema_version", b"0"))
                if version > SCHEMA_VERSION:
                    raise BadDataError(
                        f"{path} was made by a newer dlprof (schema {version}).", hint="pip install -U dlprof"
                    )
                yield file
        except (OSError, pa.ArrowException) as error:
            raise BadDataError(
                f"{path} cannot be read: {error}", hint=f"dlprof report {self.name} --rebuild"
            ) from error


def _complete(table: pa.Table, columns: Sequence[str], schema: pa.Schema) -> pa.Table:
    """A table of an older dlprof, with null in the columns that it did not have."""
    missing = [name for name in columns if name not in table.schema.names]
    for name in missing:
        table = table.append_column(schema.field(name), pa.nulls(table.num_rows, schema.field(name).type))
    return table.select(columns) if missing else table
