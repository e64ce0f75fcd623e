"""Records of allocators in the planes of an XSpace: what TensorFlow's took and gave back while it was traced.

They are events without a duration, with the address, the bytes that were asked for and taken, and the operator that
asked. What has been there before the trace was begun is in none of them, but for its end.
"""

from __future__ import annotations

import numpy as np

from dlprof.ingest.kernels.events import Booleans, Integers
from dlprof.ingest.kernels.held import Allocations
from dlprof.ingest.parse import xplane
from dlprof.ingest.parse.xplane import Line, Plane, SpaceBytes

MOST = 1_000_000
"""Records of a file; where there are more, none is told."""
_TAKEN, _GIVEN = "MemoryAllocation", "MemoryDeallocation"
_NUMBERS = ("addr", "requested_bytes", "allocation_bytes")
_TEXTS = ("tf_op", "allocator_name")
_STATS = (*_NUMBERS, *_TEXTS)
_COLUMNS = ("time", "is_given", "asked", "taken", "addr", "tf_op", "allocator_name")
_INPUT_THREADS = "tf_data_"


def allocations(data: SpaceBytes, plane: Plane) -> Allocations | None:
    """The records of the allocators of a host, in order of time; None: there are none, or too many.

    What threads of input pipelines asked for is no part of a step, and left out.

    Raises:
        WireError: An event is written in an unusual order.
    """
    kinds = {number: name == _GIVEN for number, name in plane.names.items() if name in (_TAKEN, _GIVEN)}
    if False not in kinds.values():
        return None
    parts: dict[str, list[Integers]] = {name: [] for name in _COLUMNS}
    count = 0
    for span in plane.lines:
        line = data.line(span)
        for columns in _of_line(data, plane, line, kinds):
            count += len(columns["time"])
            if count > MOST:
                return None
            for name, column in columns.items():
                parts[name].append(column)
    joined = {name: np.concatenate(some) if some else np.empty(0, np.int64) for name, some in parts.items()}
    order = np.argsort(joined["time"], kind="stable")
    return Allocations(
        time_ns=joined["time"][order],
        is_given=joined["is_given"][order].astype(bool),
        address=joined["addr"][order],
        asked=joined["asked"][order],
        taken=joined["taken"][order],
        op=joined["tf_op"][order],
        allocator=joined["allocator_name"][order],
        texts={number: plane.stats.get(number, "") for number in _told(joined)},
    )


def _told(columns: dict[str, Integers]) -> list[int]:
    found = np.concatenate([columns["tf_op"], columns["allocator_name"]])
    return [number for number in np.unique(found).tolist() if number >= 0]


def _of_line(data: SpaceBytes, plane: Plane, line: Line, kinds: dict[int, bool]) -> list[dict[str, Integers]]:
    """The records on a thread, by columns, some MB of its events at a time."""
    numbers = np.asarray(sorted(kinds), np.int64)
    is_given: Booleans = np.asarray([kinds[number] for number in numbers.tolist()], bool)
    wanted = plane.stat_numbers(_NUMBERS), plane.stat_numbers(_TEXTS)
    found = []
    for piece in data.pieces(line):
        chosen = xplane.chosen(piece, numbers, *wanted)
        if chosen is None:
            continue
        events, stats = chosen
        missing = np.full(len(events.end), -1, np.int64)
        given = is_given[np.searchsorted(numbers, events.metadata)]
        # What an input thread took is kept without bytes, so that its end is none of something older.
        by_name = {plane.stats[number]: column for number, column in stats.items()}
        told = {name: by_name.get(name, missing) for name in _STATS}
        asked = np.maximum(told["requested_bytes"], 0) * (not line.name.startswith(_INPUT_THREADS))
        # The plain allocator does not know what is taken for it.
        taken = np.where(asked > 0, np.maximum(told["allocation_bytes"], asked), 0)
        columns = {**told, "asked": asked, "taken": taken, "is_given": given.astype(np.int64)}
        columns["time"] = line.timestamp_ns + (events.offset_ps + 500) // 1000
        good = (events.offset_ps >= 0) & (events.offset_ps < 1 << 61)
        found.append({name: columns[name][good] for name in _COLUMNS})
    return found
