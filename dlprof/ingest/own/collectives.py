"""Collectives, as the in-process probe told them: rows of the table `collectives`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from dlprof_probes import wire

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.own.columns import Columns, Texts
from dlprof.schema.tables import TABLES


class Collectives(Columns):
    """Rows (kind, group, ordinal, begin, blocked, end, bytes) of `wire.COLLECTIVE`; kind and group by number.

    Times are the process's clock (ns).
    """

    def __init__(self) -> None:
        super().__init__("iiiqqqq")
        self.texts = Texts()

    def add(self, kind: str, group: str, *numbers: int) -> None:
        """Add one: `numbers` are the other columns."""
        self.append(self.texts.number(kind), self.texts.number(group), *numbers)


def table(rows: Collectives, process: ProcessId) -> pa.Table:
    """The table `collectives`."""
    schema, count = TABLES["collectives"], len(rows)
    kind, group, ordinal, begin, blocked, end, size = (rows.numbers(column) for column in range(7))
    texts = pa.array(rows.texts.by_number)
    columns = {
        "host": pa.array([process.host] * count, pa.string()),
        "rank": np.full(count, process.rank, np.int16),
        "pid": np.full(count, process.pid, np.int32),
        "kind": texts.take(pa.array(kind)),
        "process_group": texts.take(pa.array(group)),
        "ordinal": ordinal,
        "start_ns": begin - process.origin_ns,
        "dur_ns": end - begin,
        "blocked_ns": end - blocked,
        "bytes": pa.array(size, mask=size == wire.NONE),
    }
    arrays = [pa.array(columns[field.name]) for field in schema]
    return pa.Table.from_arrays(
        [one.dictionary_encode() if pa.types.is_dictionary(field.type) else one.cast(field.type)
         for one, field in zip(arrays, schema, strict=True)],
        schema=schema,
    )  # fmt: skip
