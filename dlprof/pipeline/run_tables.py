"""The tables of a run while they are made, and what went wrong meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import Health, Skipped
from dlprof.schema.tables import TABLES
from dlprof.store.writer import write_tables


class RunTables:
    """Tables by name.

    Attributes:
        by_name: Those that are there.
        health: What the user must know to trust the figures; becomes a table when they are written.
        skipped: Events that readers passed over, by (file, what, why); becomes a table then, too.
    """

    def __init__(self, health: Iterable[Health] = ()) -> None:
        self.by_name: dict[str, pa.Table] = {}
        self.health = list(health)
        self.skipped: Counter[tuple[str, str, str]] = Counter()

    def get(self, name: str) -> pa.Table | None:
        """A table; None: there is none."""
        return self.by_name.get(name)

    def put(self, tables: Mapping[str, pa.Table]) -> None:
        """Add tables; one that is there already is replaced."""
        self.by_name.update(tables)

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
