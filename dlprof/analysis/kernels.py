"""Kernels, operators and copies of a run, summed by what they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import kernel_phases, kernel_stream
from dlprof.analysis.columns import Integers, total
from dlprof.analysis.kernel_rows import (
    CPU,
    GROUPS,
    HOST,
    INCLUSIVE,
    SHOWN,
    Events,
    Ops,
    Row,
    Summed,
    classes_of,
    known_sum,
    names_of,
)
from dlprof.store.run import Run

__all__ = ["GROUPS", "HOST", "INCLUSIVE", "OF_DEVICES", "OF_HOST", "SHOWN", "Kernels", "Row", "summarise"]
OF_DEVICES, OF_HOST = "devices", "host"
_IN_MEMORY = 2_000_000
"""Of more executions no column is held in memory."""
_COLUMNS = ("op_id", "device", "step", "start_ns", "dur_ns", "nested_ns", "delay_ns")


@dataclass(frozen=True)
class Kernels:
    """All groups, and what is not in them. Times of the host and of devices are never added: they run side by side.

    Attributes:
        rows: Groups: those of devices first, and of these those with most time of their own.
        unattributed_ns: Of `all_ns`, what belongs to no layer (ns).
        all_ns: Time of all kernels and copies of devices, or where none ran there, of all operators of the host (ns),
            without what runs inside.
        all_of: Which of the two it is: `devices` or `host`.
        host_ns: Time of all operators of the host (ns), without what runs inside.
        window_ns: Wall time of the traced stretches (ns): the steps of the windows, or whole foreign traces.
        dropped_events: Events that the profilers left out.
        aggregated: Whether rows come from sums without times.
        phase: They are of this phase; None: of the whole run.
    """

    rows: Sequence[Row]
    unattributed_ns: int
    all_ns: int
    all_of: str
    host_ns: int
    window_ns: int
    dropped_events: int
    aggregated: bool
    phase: str | None = None

    @property
    def work(self) -> Sequence[Row]:
        """The rows that `all_ns` is the sum of: those of devices, or where there are none, of the host."""
        return [row for row in self.rows if row.on_host == (self.all_of == OF_HOST)]

    def whole_ns(self, row: Row) -> int:
        """What the row's share is of: the time of all that ran on devices, or on the host, as it did (ns)."""
        return self.host_ns if row.on_host else self.all_ns


def summarise(
    run: Run,
    by: str,
    *,
    phase: str | None = None,
    kinds: Sequence[str] = SHOWN,
    window: int | None = None,
    folded: bool = False,
) -> Kernels:
    """Sum the executions of a run.

    Args:
        run: The run.
        by: One of GROUPS.
        phase: Only those that began in this phase (`fit` is also `fit.steps` and so on).
        kinds: Only those of these kinds.
        window: Only those of this window.
        folded: Operators that are told of no layer are one of each kind and direction, where some layer is told.

    Raises:
        UsageError: The run has no such phase.
    """
    if phase is not None:
        kernel_phases.require(run, phase)
    ops = Ops(run, kinds)
    if folded and not ops.is_loose[ops.is_chosen].all():
        ops = ops.folded()
    chosen = _Chosen(run, ops, phase, window)
    many = run.count("kernel_events") > _IN_MEMORY
    found = kernel_stream.summed(chosen.pieces, ops, by) if many else _summed(chosen.whole(), ops, by)
    totals = [] if phase else _of_totals(run.table("kernel_totals"), ops, by)
    windows = run.table("kernel_windows")
    host_ns = found.host_ns + sum(row.total_ns for row in totals if row.on_host)
    on_devices = found.on_devices or any(not row.on_host for row in totals)
    known = [row for row in totals if row.on_host != on_devices]
    rows = [*found.rows, *totals]
    loose_ns = found.loose_ns if on_devices else found.host_loose_ns
    return Kernels(
        rows=tuple(sorted(rows, key=lambda row: (row.on_host, -row.self_ns, -row.total_ns))),
        unattributed_ns=loose_ns + sum(row.total_ns for row in known if row.layer is None),
        all_ns=(found.device_ns if on_devices else found.host_ns) + sum(row.total_ns for row in known),
        all_of=OF_DEVICES if on_devices else OF_HOST,
        host_ns=host_ns,
        window_ns=total(windows["dur_ns"]),
        dropped_events=total(windows["dropped"]),
        aggregated=bool(totals),
        phase=phase,
    )


def share_of_long(run: Run, least_ns: int) -> float | None:
    """Share of the time of the host's operators that is in executions of at least so many ns each.

    Time of their own, without what runs inside. Of sums without times the mean decides. None: none was traced.
    """
    events = _Chosen(run, Ops(run, SHOWN), None, None).whole()
    own = events.own[events.device == CPU]
    long_ns, all_ns = int(own[own >= least_ns].sum()), int(own.sum())
    for row in summarise(run, "op").rows if not all_ns else ():
        if row.on_host:
            all_ns += row.total_ns
            long_ns += row.total_ns if row.mean_ns >= least_ns else 0
    return long_ns / all_ns if all_ns else None


@dataclass(frozen=True)
class _Chosen:
    """The executions that are to be summed; the column of phases, or of windows, is read only where it decides."""

    run: Run
    ops: Ops
    phase: str | None
    window: int | None

    @property
    def _read(self) -> tuple[str, ...]:
        more = (("phase", self.phase), ("window", self.window))
        return (*_COLUMNS, *(name for name, value in more if value is not None))

    def whole(self) -> Events:
        """All of them."""
        return self._of(self.run.table("kernel_events", self._read))

    def pieces(self) -> Iterator[Events]:
        """All of them, piece by piece."""
        return map(self._of, self.run.pieces("kernel_events", self._read))

    def _of(self, events: pa.Table) -> Events:
        if self.window is not None:
            events = events.filter(pc.equal(events["window"], self.window))
        keep = self.ops.is_chosen[_narrow(events["op_id"])] if events.num_rows else np.zeros(0, bool)
        if self.phase is not None:
            keep &= kernel_phases.began_in(self.run, events, self.phase)
        if not keep.all():
            events = events.filter(pa.array(keep))
        op, device, step, start, dur, nested, delay = (_narrow(events[name]) for name in _COLUMNS)
        return Events(op, device, step, start, dur, dur - nested, delay)


def _narrow(column: pa.ChunkedArray) -> Any:
    """A column of numbers in the type that it is stored in; null is -1."""
    return (pc.fill_null(column, -1) if column.null_count else column).to_numpy()


def _summed(events: Events, ops: Ops, by: str) -> Summed:
    on_host, loose = events.device == CPU, ops.is_loose[events.op]
    return Summed(
        rows=_of_events(events, ops, by),
        host_ns=int(events.own[on_host].sum()),
        device_ns=int(events.own[~on_host].sum()),
        host_loose_ns=int(events.own[on_host & loose].sum()),
        loose_ns=int(events.own[~on_host & loose].sum()),
        on_devices=bool((~on_host).any()),
    )


def _of_events(events: Events, ops: Ops, by: str) -> list[Row]:
    if not len(events.op):
        return []
    keys, group = _group(events, ops, by)
    order = _sorted(group, events.start, len(keys))
    ends = np.cumsum(np.bincount(group, minlength=len(keys)))
    union = _unions(group[order], events.start[order], events.dur[order], len(keys))
    time = events.dur if by in INCLUSIVE else events.own
    rows = []
    for key, chosen, union_ns in zip(keys, np.split(order, ends[:-1]), union.tolist(), strict=True):
        if by == "op":
            key["category"] = _main_category(ops, events.op[chosen], events.own[chosen])
        rows.append(_row(key, events, ops, chosen, time[chosen], union_ns))
    return rows


def _row(keys: Mapping[str, Any], events: Events, ops: Ops, chosen: Integers, time: Integers, union_ns: int) -> Row:
    """The group of the chosen events."""
    op, delay = events.op[chosen], events.delay[chosen]
    waits = delay[delay >= 0]
    counts = dict(zip(*(column.tolist() for column in np.unique(op, return_counts=True)), strict=True))
    return Row(
        keys=keys,
        count=len(chosen),
        total_ns=int(time.sum()),
        self_ns=int(events.own[chosen].sum()),
        union_ns=union_ns,
        mean_ns=float(time.mean()),
        p95_ns=float(np.percentile(time, 95)),
        delay_ns=float(waits.mean()) if len(waits) else None,
        flops=known_sum(ops.columns["flops"], counts),
        bytes=known_sum(ops.columns["bytes"], counts),
    )


def _group(events: Events, ops: Ops, by: str) -> tuple[list[dict[str, Any]], Integers]:
    """The groups, and the number of the group of each event."""
    classes, class_of_op = classes_of(ops, by)
    class_ = class_of_op[events.op]
    code = class_ * (int(events.device.max()) - CPU + 1) + (events.device - CPU)
    if "step" in GROUPS[by]:
        code = code * (int(events.step.max()) + 2) + (events.step + 1)
    first, group = _first_of_each(code)
    keys = []
    for row in first.tolist():
        key = {**classes[class_[row]], "device": ops.device_name(int(events.device[row]))}
        if "step" in GROUPS[by]:
            key["step"] = int(events.step[row]) if events.step[row] >= 0 else None
        keys.append(key)
    return keys, group


def _first_of_each(code: Integers) -> tuple[Integers, Integers]:
    """The first place of each value, in order of the values, and for each place the number of its value."""
    size = int(code.max()) + 1
    if size > 4 * len(code) + 1000:
        _, first, group = np.unique(code, return_index=True, return_inverse=True)
        return first, group.reshape(-1)
    place = np.full(size, -1)
    place[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    values = np.flatnonzero(place >= 0)
    number = np.empty(size, np.int64)
    number[values] = np.arange(len(values))
    return place[values], number[code]


def _sorted(group: Integers, start: Integers, size: int) -> Integers:
    """Places in order of group and start. Runs are stored in order of start, and short numbers are sorted faster."""
    if (start[1:] >= start[:-1]).all() and size < 2**16:
        return np.argsort(group.astype(np.uint16), kind="stable")
    return np.lexsort((start, group))


def _main_category(ops: Ops, op: npt.NDArray[np.int32], own: Integers) -> Any:
    """The category in which an operator spends most of its time: the same one may also serve the optimiser."""
    numbers, inverse = np.unique(op, return_inverse=True)
    most = int(numbers[np.argmax(np.bincount(inverse, weights=own))])
    return ops.columns["category"][most]


def _unions(group: Integers, start: Integers, dur: Integers, size: int) -> Integers:
    """Wall time of each group; events are in order of group and start."""
    # Groups are moved apart on one long timeline, so that one running maximum serves all of them.
    first = int(start.min())
    span = int((start + dur).max()) - first + 1
    start += group * span - first
    reach = start + dur
    np.maximum.accumulate(reach, out=reach)
    start[1:] = np.maximum(start[1:], reach[:-1])
    reach -= start
    return np.bincount(group, weights=np.maximum(reach, 0, out=reach), minlength=size).astype(np.int64)


def _of_totals(totals: pa.Table, ops: Ops, by: str) -> list[Row]:
    names = names_of(by)
    sums: dict[tuple[Any, ...], _Sum] = {}
    for row in totals.to_pylist():
        number = row["op_id"]
        if ops.is_chosen[number]:
            key = (ops.device_name(row["device"]), *(ops.columns[name][number] for name in names))
            found = sums.setdefault(key, _Sum(ops.columns["category"][number]))
            found.count += row["count"]
            found.total_ns += row["total_ns"]
    rows = []
    for (device, *values), found in sums.items():
        keys = {**dict(zip(names, values, strict=True)), "device": device}
        if "step" in GROUPS[by]:
            keys["step"] = None
        if by == "op":
            keys["category"] = found.category
        rows.append(found.row(keys))
    return rows


@dataclass
class _Sum:
    """What a profiler that keeps no times tells of a group."""

    category: str | None
    """Of the first operator in it."""
    count: int = 0
    total_ns: int = 0

    def row(self, keys: Mapping[str, Any]) -> Row:
        """It as a row."""
        mean_ns = self.total_ns / max(1, self.count)
        return Row(keys, self.count, self.total_ns, self.total_ns, None, mean_ns, None, None, None, None)
