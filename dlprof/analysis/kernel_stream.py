"""Sums of more executions than there is memory for: read piece by piece, put in order by DuckDB, on disk if need be.

Sums, counts and means are kept by operator, device and step. What needs an order, percentiles and the time in which at
least one ran, is found while DuckDB hands out the executions in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.analysis import grouped
from dlprof.analysis.columns import Integers
from dlprof.analysis.kernel_rows import CPU, GROUPS, INCLUSIVE, Events, Ops, Row, Summed, classes_of, known_sum
from dlprof.analysis.order_statistics import between, places_of

if TYPE_CHECKING:
    import duckdb

_SETTINGS = {"memory_limit": "256MB", "threads": "2"}
_BATCH = 1 << 17
_P95 = 0.95
_READER = "to_arrow_reader"
Pieces = Callable[[], Iterable[Events]]
Group = tuple[int, int, int | None]
"""Class of operators, device, and step where rows are told apart by it."""


@dataclass
class _OpSums:
    """Executions of one operator in a group."""

    count: int = 0
    dur_ns: int = 0
    own_ns: int = 0
    delays: int = 0
    delay_ns: int = 0

    def add(self, count: int, dur_ns: int, own_ns: int, delays: int, delay_ns: int) -> None:
        """More of them."""
        self.count += count
        self.dur_ns += dur_ns
        self.own_ns += own_ns
        self.delays += delays
        self.delay_ns += delay_ns


@dataclass
class _GroupSums:
    """A group of executions."""

    number: int
    of_op: dict[int, _OpSums] = field(default_factory=dict)

    def of(self, name: str) -> int:
        """The sum of something over its operators."""
        return sum(getattr(one, name) for one in self.of_op.values())


def summed(pieces: Pieces, ops: Ops, by: str) -> Summed:
    """Sum executions.

    Args:
        pieces: Gives them; it is asked three times.
        ops: Their operators.
        by: One of GROUPS.
    """
    classes, class_of_op = classes_of(ops, by)
    groups = _groups(pieces(), class_of_op, with_step="step" in GROUPS[by])
    numbers = _Numbers(groups, class_of_op, "step" in GROUPS[by])
    p95 = _percentiles(_timed(pieces, numbers, inclusive=by in INCLUSIVE), groups)
    unions = _unions(_timed(pieces, numbers, inclusive=True), len(groups))
    rows = []
    for group, sums in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1], item[0][2] or 0)):
        keys = {**classes[group[0]], "device": ops.device_name(group[1])}
        if "step" in GROUPS[by]:
            keys["step"] = group[2] if group[2] is not None and group[2] >= 0 else None
        if by == "op":
            most = max(sums.of_op, key=lambda op: (sums.of_op[op].own_ns, -op))
            keys["category"] = ops.columns["category"][most]
        rows.append(_row(keys, sums, ops, by, p95[sums.number], int(unions[sums.number])))
    return _whole(rows, groups, ops)


def _whole(rows: list[Row], groups: dict[Group, _GroupSums], ops: Ops) -> Summed:
    times = {(host, loose): 0 for host in (True, False) for loose in (True, False)}
    for (_, device, _), sums in groups.items():
        for op, one in sums.of_op.items():
            times[device == CPU, bool(ops.is_loose[op])] += one.own_ns
    return Summed(
        rows=rows,
        host_ns=times[True, True] + times[True, False],
        device_ns=times[False, True] + times[False, False],
        host_loose_ns=times[True, True],
        loose_ns=times[False, True],
        on_devices=any(device != CPU for _, device, _ in groups),
    )


def _row(keys: dict[str, Any], sums: _GroupSums, ops: Ops, by: str, p95_ns: float, union_ns: int) -> Row:
    count, own_ns, delays = sums.of("count"), sums.of("own_ns"), sums.of("delays")
    total_ns = sums.of("dur_ns") if by in INCLUSIVE else own_ns
    counts = {op: one.count for op, one in sorted(sums.of_op.items())}
    return Row(
        keys=keys,
        count=count,
        total_ns=total_ns,
        self_ns=own_ns,
        union_ns=union_ns,
        mean_ns=total_ns / count,
        p95_ns=p95_ns,
        delay_ns=sums.of("delay_ns") / delays if delays else None,
        flops=known_sum(ops.columns["flops"], counts),
        bytes=known_sum(ops.columns["bytes"], counts),
    )


def _groups(pieces: Iterable[Events], class_of_op: Integers, *, with_step: bool) -> dict[Group, _GroupSums]:
    found: dict[Group, _GroupSums] = {}
    for events in (events for events in pieces if len(events.op)):
        keys = _keys(events.op, events, with_step=with_step)
        order, begins = grouped.ordered(keys)
        first = order[begins]
        sums = (np.add.reduceat(column[order], begins).tolist() for column in _amounts(events))
        for op, device, step, *amounts in zip(*(key[first].tolist() for key in keys), *sums, strict=True):
            group = (int(class_of_op[op]), device, step if with_step else None)
            one = found.setdefault(group, _GroupSums(len(found))).of_op.setdefault(op, _OpSums())
            one.add(*amounts)
    return found


def _keys(of_op: npt.NDArray[Any], events: Events, *, with_step: bool) -> tuple[Integers, Integers, Integers]:
    step = events.step if with_step else np.zeros(len(events.op), np.int32)
    return np.asarray(of_op, np.int64), events.device.astype(np.int64), step.astype(np.int64)


def _amounts(events: Events) -> Iterator[Integers]:
    """One, time, own time, whether the launch is known, and its delay of each execution."""
    known = events.delay >= 0
    yield np.ones(len(events.op), np.int64)
    yield from (events.dur, events.own, known.astype(np.int64), np.where(known, events.delay, 0))


@dataclass(frozen=True)
class _Numbers:
    """The number of the group of each execution."""

    groups: dict[Group, _GroupSums]
    class_of_op: Integers
    with_step: bool

    def of(self, events: Events) -> Integers:
        keys = _keys(self.class_of_op[events.op], events, with_step=self.with_step)
        order, begins = grouped.ordered(keys)
        known = [
            self.groups[class_, device, step if self.with_step else None].number
            for class_, device, step in zip(*(key[order[begins]].tolist() for key in keys), strict=True)
        ]
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.repeat(known, np.diff(np.append(begins, len(order))))
        return numbers


def _timed(pieces: Pieces, numbers: _Numbers, *, inclusive: bool) -> Iterator[pa.RecordBatch]:
    """Group, begin and time of each execution."""
    for events in pieces():
        if len(events.op):
            time = events.dur if inclusive else events.own
            yield pa.record_batch([numbers.of(events), events.start, time], names=["g", "start", "time"])


def _ordered(batches: Iterable[pa.RecordBatch], order: str) -> Iterator[pa.RecordBatch]:
    """Executions in an order, by DuckDB: what does not fit into a little memory waits in a folder of its own."""
    schema = pa.schema([("g", pa.int64()), ("start", pa.int64()), ("time", pa.int64())])
    with tempfile.TemporaryDirectory(prefix="dlprof-") as folder, _database(folder) as connection:
        connection.register("executions", pa.RecordBatchReader.from_batches(schema, batches))
        found = connection.sql(f"SELECT g, start, time FROM executions ORDER BY {order}")
        # Older versions of DuckDB know it by another name, which newer ones will not have.
        yield from getattr(found, _READER if hasattr(found, _READER) else "fetch_arrow_reader")(_BATCH)


def _database(folder: str) -> duckdb.DuckDBPyConnection:
    import duckdb  # noqa: PLC0415  (large: loaded when there is much to sum)

    return duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": folder})


def _by_group(batch: pa.RecordBatch) -> Iterator[tuple[int, Integers, Integers]]:
    """Each group of some executions, with begins and times in their order."""
    group, start, time = (np.asarray(batch.column(name)) for name in ("g", "start", "time"))
    order, begins = grouped.ordered([group])
    for rows in np.split(order, begins[1:]):
        yield int(group[rows[0]]), start[rows], time[rows]


def _percentiles(batches: Iterable[pa.RecordBatch], groups: dict[Group, _GroupSums]) -> dict[int, float]:
    """The 95th percentile of each group, as `numpy.percentile` has it, by its number."""
    counts = {sums.number: sums.of("count") for sums in groups.values()}
    ends: dict[int, list[int]] = {number: [] for number in counts}
    done = dict.fromkeys(counts, 0)
    for batch in _ordered(batches, "g, time"):
        for number, _, time in _by_group(batch):
            for place in places_of(_P95, counts[number]):
                if done[number] <= place < done[number] + len(time):
                    ends[number].append(int(time[place - done[number]]))
            done[number] += len(time)
    return {number: between(low, high, _P95, counts[number]) for number, (low, high) in ends.items()}


def _unions(batches: Iterable[pa.RecordBatch], groups: int) -> Integers:
    """Time in which at least one execution of each group ran (ns)."""
    reach, union = np.full(groups, np.iinfo(np.int64).min), np.zeros(groups, np.int64)
    for batch in _ordered(batches, "start, g"):
        for number, start, dur in _by_group(batch):
            ends = np.maximum.accumulate(np.append(reach[number], start + dur))
            union[number] += int(np.maximum(0, ends[1:] - np.maximum(start, ends[:-1])).sum())
            reach[number] = ends[-1]
    return union
