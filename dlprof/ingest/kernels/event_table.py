"""Rows of `kernel_events`: one per execution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.events import Events, Integers
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import nest_events
from dlprof.ingest.kernels.trace import Lane
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import EventKind

_STORED = tuple(kind for kind in EventKind if kind is not EventKind.PYTHON)


class EventTable:
    """Makes the rows of one trace."""

    def __init__(self, lanes: Sequence[Lane], context: TraceContext) -> None:
        self._lanes = lanes
        self._context = context

    def rows(self, events: Events, linked: Linked, op_ids: Integers, steps: Integers) -> pa.Table:
        """The rows of a segment, in order of time.

        Args:
            events: The segment.
            linked: Relations between its events.
            op_ids: Row of `kernel_ops` of each event.
            steps: Number of the step of each, or NONE.
        """
        order = _stored(events)
        launch = linked.launch[order]
        start, dur = events.start[order], events.dur[order]
        delay = start - events.start[np.maximum(launch, 0)]
        step = steps[order]
        columns: dict[str, Any] = {
            **_process_columns(self._context.process, len(order)),
            "op_id": op_ids[order],
            "device": events.device[order],
            "lane": _texts(events.lane[order], [lane.name for lane in self._lanes]),
            "start_ns": start,
            "dur_ns": dur,
            "nested_ns": np.minimum(linked.nested[order], dur),
            "delay_ns": pa.array(delay, pa.int64(), mask=(launch < 0) | (delay < 0)),
            "step": pa.array(step.astype(np.int32), pa.int32(), mask=step < 0),
            "phase": _texts(self._context.phases.at(start), [str(value) for value in self._context.phases.values]),
            "window": np.full(len(order), self._context.window, np.int16),
        }
        schema = TABLES["kernel_events"]
        arrays = [c if isinstance(c := columns[f.name], pa.Array) else pa.array(c, f.type) for f in schema]
        return pa.Table.from_arrays(arrays, schema=schema)


def _stored(events: Events) -> Integers:
    """Positions of the events that are kept, in order of time."""
    order = np.flatnonzero(events.is_kind(*_STORED) & ~events.context)
    order = np.concatenate((order, _outermost(events)))
    return order[np.argsort(events.start[order], kind="stable")]


def _outermost(events: Events) -> Integers:
    """Positions of the Python functions that no other is around: they tell when the host was in Python."""
    rows = np.flatnonzero(events.is_kind(EventKind.PYTHON))
    nest = nest_events(events, rows)
    outer = rows[nest.order[nest.depth == 0]]
    begun: Integers = outer[~events.context[outer]]
    return begun


def _texts(numbers: npt.NDArray[Any], texts: Sequence[str]) -> pa.DictionaryArray:
    """Numbers as the texts that they stand for; null where a number is negative."""
    indices = pa.array(np.maximum(numbers, 0).astype(np.int32), pa.int32(), mask=numbers < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts or [""], pa.string()))


def _process_columns(process: ProcessId, size: int) -> dict[str, Any]:
    return {
        "host": _texts(np.zeros(size, np.int32), [process.host]),
        "rank": np.full(size, process.rank, np.int16),
        "pid": np.full(size, process.pid, np.int32),
    }
