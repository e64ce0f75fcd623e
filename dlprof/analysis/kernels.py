"""Kernels, operators and copies of a run, summed by what they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, total, truths
from dlprof.schema.vocabulary import EventKind
from dlprof.store.run import Run

GROUPS: Mapping[str, tuple[str, ...]] = {
    "kernel": ("name", "op", "category", "layer", "direction"),
    "op": ("op",),
    "layer": ("layer", "direction", "op", "category"),
    "category": ("category",),
    "direction": ("direction",),
    "device": (),
    "step": ("step",),
}
"""What rows are told apart by, besides kind and device, for each `--by`."""
INCLUSIVE = ("kernel", "op")
"""Groupings in which `total_ns` contains what runs inside: as the engines' own summaries have it."""
SHOWN = (EventKind.KERNEL.word, EventKind.OPERATOR.word, EventKind.TRANSFER.word)
"""Kinds that are work of the model; the others are calls, waits and names around it."""
HOST = "cpu"
"""The host, in the key `device` of rows."""
OF_DEVICES, OF_HOST = "devices", "host"
_CPU = -1
_COLUMNS = ("op_id", "device", "step", "start_ns", "dur_ns", "nested_ns", "delay_ns")


@dataclass(frozen=True)
class Row:
    """A group of executions.

    Attributes:
        keys: What the group has in common: kind, device, and those of GROUPS.
        count: Executions.
        total_ns: Their time (ns). By kernel and op it contains what runs inside them; in all other
            groupings it does not, so that the rows sum to the time of all kernels.
        self_ns: Their time without what runs inside them (ns).
        union_ns: Wall time in which at least one of them ran (ns); None for sums without times.
        mean_ns: Of one execution, as total_ns (ns).
        p95_ns: 95th percentile of that (ns); None for sums without times.
        delay_ns: Mean time from launch to start (ns); None on the host, or where no launch is known.
        flops: Floating-point operations in all, where they are known of all executions.
        bytes: Bytes moved in all, where they are known.
    """

    keys: Mapping[str, Any]
    count: int
    total_ns: int
    self_ns: int
    union_ns: int | None
    mean_ns: float
    p95_ns: float | None
    delay_ns: float | None
    flops: float | None
    bytes: float | None

    @property
    def layer(self) -> str | None:
        """Whose layer it is; None where it is not known, or where rows are not told apart by it."""
        return self._text("layer")

    @property
    def direction(self) -> str | None:
        """Its pass, likewise."""
        return self._text("direction")

    @property
    def op(self) -> str | None:
        """Its type of operator, likewise."""
        return self._text("op")

    @property
    def category(self) -> str | None:
        """Its category, likewise."""
        return self._text("category")

    @property
    def on_host(self) -> bool:
        """Whether it ran on the host: an operator there may be no more than the launch of a device's kernels."""
        return bool(self.keys["device"] == HOST)

    def _text(self, name: str) -> str | None:
        value = self.keys.get(name)
        return None if value is None else str(value)


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
    """

    rows: Sequence[Row]
    unattributed_ns: int
    all_ns: int
    all_of: str
    host_ns: int
    window_ns: int
    dropped_events: int
    aggregated: bool

    @property
    def work(self) -> Sequence[Row]:
        """The rows that `all_ns` is the sum of: those of devices, or where there are none, of the host."""
        return [row for row in self.rows if row.on_host == (self.all_of == OF_HOST)]

    def whole_ns(self, row: Row) -> int:
        """What the row's share is of: the time of all that ran on devices, or on the host, as it did (ns)."""
        return self.host_ns if row.on_host else self.all_ns


def summarise(
    run: Run, by: str, *, phase: str | None = None, kinds: Sequence[str] = SHOWN, window: int | None = None
) -> Kernels:
    """Sum the executions of a run.

    Args:
        run: The run.
        by: One of GROUPS.
        phase: Only those that began in this phase (`fit` is also `fit.steps` and so on).
        kinds: Only those of these kinds.
        window: Only those of this window.
    """
    ops = _Ops(run, kinds)
    events = _chosen(run, ops, phase, window)
    totals = [] if phase else _of_totals(run.table("kernel_totals"), ops, by)
    windows = run.table("kernel_windows")
    on_host = events.device == _CPU
    host_ns = int(events.own[on_host].sum()) + sum(row.total_ns for row in totals if row.on_host)
    on_devices = bool((~on_host).any()) or any(not row.on_host for row in totals)
    counted = on_host != on_devices
    loose = int(events.own[counted & ops.is_loose[events.op]].sum())
    known = [row for row in totals if row.on_host != on_devices]
    rows = [*_of_events(events, ops, by), *totals]
    return Kernels(
        rows=tuple(sorted(rows, key=lambda row: (row.on_host, -row.self_ns, -row.total_ns))),
        unattributed_ns=loose + sum(row.total_ns for row in known if row.layer is None),
        all_ns=int(events.own[counted].sum()) + sum(row.total_ns for row in known),
        all_of=OF_DEVICES if on_devices else OF_HOST,
        host_ns=host_ns,
        window_ns=total(windows["dur_ns"]),
        dropped_events=total(windows["dropped"]),
        aggregated=bool(totals),
    )


class _Ops:
    """The table `kernel_ops`, by column, with the rows of chosen kinds marked."""

    def __init__(self, run: Run, kinds: Sequence[str]) -> None:
        ops, self.device_name = run.table("kernel_ops"), run.manifest.device_name
        size = max(ops["op_id"].to_pylist(), default=-1) + 1
        self.columns: dict[str, list[Any]] = {}
        place = ops["op_id"].to_pylist()
        for name in ("kind", "name", "op", "category", "layer", "direction", "flops", "bytes"):
            column: list[Any] = [None] * size
            for number, value in zip(place, ops[name].to_pylist(), strict=True):
                column[number] = value
            self.columns[name] = column
        self.is_chosen = np.asarray([kind in kinds for kind in self.columns["kind"]], bool)
        self.is_loose = np.asarray([layer is None for layer in self.columns["layer"]], bool)


@dataclass(frozen=True)
class _Events:
    """Columns of `kernel_events`, as narrow as they are stored: there may be millions of rows.

    Attributes:
        own: Duration without what runs inside (ns).
    """

    op: npt.NDArray[np.int32]
    device: npt.NDArray[np.int16]
    step: npt.NDArray[np.int32]
    start: Integers
    dur: Integers
    own: Integers
    delay: Integers


def _chosen(run: Run, ops: _Ops, phase: str | None, window: int | None) -> _Events:
    """The columns of the events that are to be summed; that of phases, or of windows, is read only where it decides."""
    more = [name for name, value in (("phase", phase), ("window", window)) if value is not None]
    events = run.table("kernel_events", (*_COLUMNS, *more))
    if window is not None:
        events = events.filter(pc.equal(events["window"], window))
    keep = ops.is_chosen[_narrow(events["op_id"])] if events.num_rows else np.zeros(0, bool)
    if phase is not None:
        keep &= _in_phase(events["phase"].cast(pa.string()), phase)
    if not keep.all():
        events = events.filter(pa.array(keep))
    op, device, step, start, dur, nested, delay = (_narrow(events[name]) for name in _COLUMNS)
    return _Events(op, device, step, start, dur, dur - nested, delay)


def _in_phase(phases: pa.ChunkedArray, phase: str) -> Truths:
    """Which of the names of phases are this one, or a part of it."""
    return truths(pc.or_(pc.equal(phases, phase), pc.starts_with(phases, f"{phase}.")))


def _narrow(column: pa.ChunkedArray) -> Any:
    """A column of numbers in the type that it is stored in; null is -1."""
    return (pc.fill_null(column, -1) if column.null_count else column).to_numpy()


def _of_events(events: _Events, ops: _Ops, by: str) -> list[Row]:
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


def _row(keys: Mapping[str, Any], events: _Events, ops: _Ops, chosen: Integers, time: Integers, union_ns: int) -> Row:
    """The group of the chosen events."""
    op, delay = events.op[chosen], events.delay[chosen]
    waits = delay[delay >= 0]
    return Row(
        keys=keys,
        count=len(chosen),
        total_ns=int(time.sum()),
        self_ns=int(events.own[chosen].sum()),
        union_ns=union_ns,
        mean_ns=float(time.mean()),
        p95_ns=float(np.percentile(time, 95)),
        delay_ns=float(waits.mean()) if len(waits) else None,
        flops=_known_sum(ops.columns["flops"], op),
        bytes=_known_sum(ops.columns["bytes"], op),
    )


def _group(events: _Events, ops: _Ops, by: str) -> tuple[list[dict[str, Any]], Integers]:
    """The groups, and the number of the group of each event."""
    classes, class_of_op = _classes(ops, by)
    class_ = class_of_op[events.op]
    code = class_ * (int(events.device.max()) - _CPU + 1) + (events.device - _CPU)
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


def _classes(ops: _Ops, by: str) -> tuple[list[dict[str, Any]], Integers]:
    """What tells operators apart, each combination once, and which of them each operator has."""
    names = _names(by)
    columns = [ops.columns[name] for name in names]
    numbers: dict[tuple[Any, ...], int] = {}
    class_of_op = [numbers.setdefault(values, len(numbers)) for values in zip(*columns, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in numbers], np.asarray(class_of_op, np.int64)


def _names(by: str) -> tuple[str, ...]:
    """Columns of `kernel_ops` by which rows are told apart."""
    return (*(name for name in GROUPS[by] if name != "step"), "kind")


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


def _main_category(ops: _Ops, op: npt.NDArray[np.int32], own: Integers) -> Any:
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


def _known_sum(values: list[float | None], op: npt.NDArray[np.int32]) -> float | None:
    numbers, counts = np.unique(op, return_counts=True)
    total = 0.0
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        value = values[number]
        if value is None:
            return None
        total += value * count
    return total


def _of_totals(totals: pa.Table, ops: _Ops, by: str) -> list[Row]:
    names = _names(by)
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
