"""How much Python held while it trained, as the in-process probe told it: rows of the table `held_objects`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.schema.tables import TABLES

_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
_PLAIN = ("blocks", "objects", "tensors")


class TypeCount(msgspec.Struct, frozen=True, array_like=True):
    """Objects of a type: how many there are, and how many more than at first."""

    name: str
    count: _Count
    more: _Count


class Held(msgspec.Struct, frozen=True):
    """A record (`dlprof_probes.wire.Record.OBJECTS`); the time is the process's clock (ns). None: not counted then."""

    time_ns: _Count
    blocks: _Count | None = None
    objects: _Count | None = None
    tensors: _Count | None = None
    types: tuple[TypeCount, ...] = ()


def parse(payload: bytes) -> Held:
    """A moment out of its record.

    Raises:
        ValueError: It makes no sense.
    """
    return msgspec.json.decode(payload, type=Held)


def table(moments: Iterable[Held], process: ProcessId) -> pa.Table:
    """The table `held_objects`."""
    rows = [{**process.columns, **row} for one in moments for row in _rows(one, one.time_ns - process.origin_ns)]
    return pa.Table.from_pylist(rows, schema=TABLES["held_objects"])


def _rows(one: Held, time_ns: int) -> Iterator[dict[str, Any]]:
    for kind in _PLAIN:
        count = getattr(one, kind)
        if count is not None:
            yield {"time_ns": time_ns, "kind": kind, "count": count}
    for told in one.types:
        yield {"time_ns": time_ns, "kind": "type", "name": told.name, "count": told.count, "more_count": told.more}
