"""A stored run: the object that every analysis and report takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dlprof.errors import BadDataError
from dlprof.rundir import RunDir
from dlprof.schema.tables import SCHEMA_VERSION, TABLES


@dataclass
class Run:
    """A run folder with its tables, read when they are first asked for."""

    folder: RunDir
    manifest: dict[str, Any]
    """See docs/run-folder.md."""
    _tables: dict[str, pa.Table] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The run's name: that of its folder."""
        return self.folder.path.name

    @property
    def wall_ns(self) -> int | None:
        """Wall time of the traced process, from start to end (ns); None when it is not known."""
        return self.manifest.get("process", {}).get("wall_ns")  # type: ignore[no-any-return]

    def table(self, name: str) -> pa.Table:
        """A table of the run; one that was not written is empty, with its schema.

        Raises:
            KeyError: The schema knows no such table.
            BadDataError: The file is damaged or of a newer dlprof.
        """
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A table as a list of dictionaries, for small tables."""
        return self.table(name).to_pylist()  # type: ignore[no-any-return]

    def _read(self, name: str) -> pa.Table:
        schema = TABLES[name]
        path = self.folder.tables / f"{name}.parquet"
        if not path.is_file():
            return schema.empty_table()
        try:
            table = pq.read_table(path, memory_map=True)
        except (OSError, pa.ArrowException) as error:
            raise BadDataError(
                f"{path} cannot be read: {error}", hint=f"dlprof report {self.name} --rebuild"
            ) from error
        version = int((table.schema.metadata or {}).get(b"dlprof_schema_version", b"0"))
        if version > SCHEMA_VERSION:
            raise BadDataError(f"{path} was made by a newer dlprof (schema {version}).", hint="pip install -U dlprof")
        return table
