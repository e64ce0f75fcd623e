"""Makes the tables of kernels out of traces: attribution, places on the run's time line, gaps of the GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.artifact import Health, Who
from dlprof.ingest.attribution import by_launch, by_node, by_order, by_path, flops
from dlprof.ingest.attribution.categories import category
from dlprof.ingest.attribution.labels import UPDATE, Labels, Model
from dlprof.ingest.kernels import gaps, segments
from dlprof.ingest.kernels.linking import Linked, link
from dlprof.ingest.kernels.trace import NONE, Integers, Kind, Trace
from dlprof.schema.tables import TABLES

KIND_NAMES = tuple(kind.name.lower() for kind in Kind)
_STORED = tuple(kind for kind in Kind if kind is not Kind.PYTHON)
OpKey = tuple[str, str, str | None, str, str | None, str | None, float | None, float | None]


@dataclass(frozen=True)
class Intervals:
    """Named stretches of the run's time line, in order and without overlap (ns)."""

    starts: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    ends: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    values: Sequence[Any] = ()

    def at(self, time: Integers) -> Integers:
        """Position of the stretch around each time, or NONE."""
        if not len(self.starts):
            return np.full(len(time), NONE, np.int64)
        found = np.searchsorted(self.starts, time, "right") - 1
        safe = np.maximum(found, 0)
        return np.where((found >= 0) & (time < self.ends[safe]), found, NONE)


@dataclass(frozen=True)
class Place:
    """Where a trace belongs.

    Attributes:
        who: Host, rank and process.
        shift_ns: What is added to the trace's times to get those of the run.
        window: Number of the window.
        model: What is known of the model.
        steps: Steps of the run; their values are running numbers.
        phases: Phases of the run.
    """

    who: Who
    shift_ns: int
    window: int
    model: Model = field(default_factory=Model)
    steps: Intervals = field(default_factory=Intervals)
    phases: Intervals = field(default_factory=Intervals)


@dataclass
class Carry:
    """What is handed on from one segment of a trace to the next.

    Attributes:
        sequences: Layer and direction of forward operators by autograd's sequence number.
        busy_until: End of the last kernel or copy of each device (ns).
        overlapping: Operators that reach out of those around them, so far.
    """

    sequences: dict[int, tuple[str | None, str | None]] = field(default_factory=dict)
    busy_until: dict[int, int] = field(default_factory=dict)
    overlapping: int = 0


@dataclass
class Assembly:
    """Tables of kernels, growing trace by trace.

    Attributes:
        sink: Takes the rows of `kernel_events` as they are made; None: they are kept for `tables`.
    """

    ops: dict[OpKey, int] = field(default_factory=dict)
    events: list[pa.Table] = field(default_factory=list)
    totals: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[pa.Table] = field(default_factory=list)
    health: list[Health] = field(default_factory=list)
    sink: Callable[[pa.Table], None] | None = None

    def add(self, trace: Trace, place: Place) -> tuple[int, int]:
        """Add a trace; its events are given up.

        Returns:
            Start of its first and end of its last event on the run's time line (ns); (0, 0) if it has none.
        """
        self._add_totals(trace, place)
        first, last = trace.first_ns, trace.last_ns
        if first is None or last is None:
            return 0, 0
        carry = Carry()
        for columns in segments.of(trace):
            columns["start"] = columns["start"] + place.shift_ns
            self._add_segment(trace, columns, place, carry)
        if carry.overlapping:
            text = (
                f"{carry.overlapping} operators of {trace.path.name} overlap others of their thread: "
                "their time is cut there."
            )
            self.health.append(Health("trace-overlapping", "info", text, carry.overlapping))
        self.health.extend(trace.health)
        return first + place.shift_ns, last + place.shift_ns

    def _add_segment(self, trace: Trace, columns: dict[str, npt.NDArray[Any]], place: Place, carry: Carry) -> None:
        linked = link(columns)
        carry.overlapping += linked.overlapping
        labels = attribute(trace, columns, place.model, linked, carry)
        steps = _steps(trace, columns, place, linked)
        op_ids = self._op_ids(trace, columns, labels)
        order = np.flatnonzero(np.isin(columns["kind"], _STORED) & ~columns["context"])
        order = order[np.argsort(columns["start"][order], kind="stable")]
        self._take(_events(trace, columns, linked, (op_ids, steps), (order, place)))
        self.gaps.append(gaps.find(trace, columns, linked, (place.who, place.window), carry))

    def _take(self, events: pa.Table) -> None:
        if self.sink is not None:
            self.sink(events)
        else:
            self.events.append(events)

    def _add_totals(self, trace: Trace, place: Place) -> None:
        for row in trace.programs.get("aggregates", ()):
            kind = KIND_NAMES[row["kind"]]
            op = row.get("op") or (row["name"] if kind == "operator" else None)
            found = row.get("category") or category(op or "", row["name"])
            number = self.ops.setdefault((kind, row["name"], op, found, None, None, None, None), len(self.ops))
            self.totals.append({
                "host": place.who.host, "rank": place.who.rank, "pid": place.who.pid, "op_id": number,
                "device": row["device"], "count": row["count"], "total_ns": row["total_ns"],
                "min_ns": row.get("min_ns"), "max_ns": row.get("max_ns"), "window": place.window,
            })  # fmt: skip
        if trace.aggregated:
            self.health.extend(trace.health)

    def _op_ids(self, trace: Trace, columns: dict[str, npt.NDArray[Any]], labels: Labels) -> Integers:
        """The row of `kernel_ops` of each event."""
        scope = _telling_scopes(trace, columns)
        parts = (columns["kind"], columns["name"], labels.label, labels.op, scope)
        code = np.zeros(len(columns["kind"]), np.int64)
        for part in parts:
            low = int(part.min(initial=0))
            code = code * (int(part.max(initial=0)) - low + 1) + (part - low)
        first, inverse = _first_of_each(code)
        numbers = np.empty(len(first), np.int64)
        for position, row in enumerate(first.tolist()):
            key = _key(trace, labels, *(int(part[row]) for part in parts))
            numbers[position] = self.ops.setdefault(key, len(self.ops))
        return numbers[inverse]

    def tables(self) -> dict[str, pa.Table]:
        """The tables."""
        names = ("kind", "name", "op", "category", "layer", "direction", "flops", "bytes")
        rows = [{"op_id": number, **dict(zip(names, key, strict=True))} for key, number in self.ops.items()]
        events = {} if self.sink is not None else {"kernel_events": _joined("kernel_events", self.events)}
        return {
            **events,
            "kernel_ops": pa.Table.from_pylist(rows, schema=TABLES["kernel_ops"]),
            "kernel_totals": pa.Table.from_pylist(self.totals, schema=TABLES["kernel_totals"]),
            "gpu_gaps": _joined("gpu_gaps", self.gaps),
        }


def _first_of_each(code: Integers) -> tuple[Integers, Integers]:
    """The first place of each value, and for each place the number of its value; by hashing, not by sorting."""
    encoded = pa.array(code).dictionary_encode()
    inverse = np.asarray(encoded.indices)
    first = np.empty(len(encoded.dictionary), np.int64)
    first[inverse[::-1]] = np.arange(len(code) - 1, -1, -1)
    return first, inverse


def _joined(name: str, tables: Iterable[pa.Table]) -> pa.Table:
    found = list(tables)
    return pa.concat_tables(found).unify_dictionaries() if found else TABLES[name].empty_table()


def attribute(trace: Trace, columns: dict[str, npt.NDArray[Any]], model: Model, linked: Linked, carry: Carry) -> Labels:
    """Labels of all events, by the rules of the trace's engine."""
    if trace.engine in ("tensorflow", "xla"):
        return by_path.attribute(trace, columns, model)
    if trace.engine == "mxnet":
        return by_order.attribute(trace, columns, model)
    if trace.engine == "cntk":
        return by_node.attribute(trace, columns, model)
    if trace.engine in ("chainer", "openvino"):
        return by_node.attribute_told(trace, columns, model)
    return by_launch.attribute(trace, columns, model, linked, carry.sequences)


def _telling_scopes(trace: Trace, columns: dict[str, npt.NDArray[Any]]) -> Integers:
    """Scopes of those events of which they tell something that attribution has not taken: shapes, bytes."""
    scope: Integers = columns["scope"].astype(np.int64)
    keep = columns["kind"] == Kind.TRANSFER
    if trace.engine == "torch":
        shaped = [trace.names.numbers[name] for name in flops.TORCH_OPERATORS if name in trace.names.numbers]
        keep |= (columns["kind"] == Kind.OPERATOR) & np.isin(columns["name"], shaped)
    return np.where(keep, scope, NONE)


def _key(trace: Trace, labels: Labels, kind: int, name: int, label: int, op: int, scope: int) -> OpKey:  # noqa: PLR0913, PLR0917
    layer, direction = labels.pairs[label] if label >= 0 else (None, None)
    text, operator = trace.names[name], labels.ops[op] if op >= 0 else None
    work = moved = None
    if scope >= 0:
        said = trace.scopes[scope]
        if said.startswith("bytes="):
            moved = float(said[6:])
        elif kind == Kind.OPERATOR and trace.engine == "torch":
            work = flops.of_torch(text, said)
    found = _category(kind, operator, text, direction)
    return KIND_NAMES[kind], text, operator, found, layer, direction, work, moved


def _category(kind: int, op: str | None, name: str, direction: str | None) -> str:
    if kind == Kind.TRANSFER:
        return "transfer"
    if kind not in (Kind.OPERATOR, Kind.KERNEL):
        return "other"
    found = category(op or "")
    if found == "other":
        found = category(name)
    if direction == UPDATE and found not in ("transfer", "collective"):
        return "optimiser"
    return found


def _steps(trace: Trace, columns: dict[str, npt.NDArray[Any]], place: Place, linked: Linked) -> Integers:
    """The step of each event: that in which its launch, or itself, began."""
    origin = np.where(linked.launch >= 0, columns["start"][np.maximum(linked.launch, 0)], columns["start"])
    if trace.engine == "xla" and (runs := _by_run(trace, columns, place)) is not None:
        return runs
    steps = place.steps if len(place.steps.starts) else _annotated_steps(trace, columns)
    found = steps.at(origin)
    table = np.asarray([*steps.values, NONE], np.int64)
    return table[found]


def _by_run(trace: Trace, columns: dict[str, npt.NDArray[Any]], place: Place) -> Integers | None:
    """Steps of an asynchronous engine: each execution of the program with most time is one, in order.

    None where executions and steps do not match in number.
    """
    rows = np.flatnonzero((columns["kind"] == Kind.OPERATOR) & (columns["link"] != NONE) & (columns["scope"] != NONE))
    if not len(rows) or not len(place.steps.starts):
        return None
    texts = [scope.split("\t") for scope in trace.scopes.texts]
    names = {key: number for number, key in enumerate(dict.fromkeys(tuple(parts[2:4]) for parts in texts))}
    program = np.asarray([names[tuple(parts[2:4])] for parts in texts], np.int64)[columns["scope"][rows]]
    main = int(np.argmax(np.bincount(program, weights=columns["dur"][rows])))
    rows = rows[program == main]
    runs, inverse = np.unique(columns["link"][rows], return_inverse=True)
    if len(runs) != len(place.steps.starts):
        return None
    begin = np.full(len(runs), np.iinfo(np.int64).max)
    np.minimum.at(begin, inverse, columns["start"][rows])
    number = np.empty(len(runs), np.int64)
    number[np.argsort(begin, kind="stable")] = np.asarray(place.steps.values, np.int64)
    found = np.full(len(columns["start"]), NONE, np.int64)
    found[rows] = number[inverse]
    return found


def _annotated_steps(trace: Trace, columns: dict[str, npt.NDArray[Any]]) -> Intervals:
    """Steps that the trace itself names: `ProfilerStep#12`."""
    numbers = {
        n: int(text.rpartition("#")[2])
        for n, text in enumerate(trace.names.texts)
        if text.startswith("ProfilerStep#") and text[13:].isdigit() and len(text) < 22
    }
    if not numbers:
        return Intervals()
    rows = np.flatnonzero((columns["kind"] == Kind.ANNOTATION) & np.isin(columns["name"], list(numbers)))
    rows = rows[np.argsort(columns["start"][rows], kind="stable")]
    ends = columns["start"][rows] + columns["dur"][rows]
    return Intervals(columns["start"][rows], ends, [numbers[n] for n in columns["name"][rows].tolist()])


def _events(
    trace: Trace,
    columns: dict[str, npt.NDArray[Any]],
    linked: Linked,
    found: tuple[Integers, Integers],
    where: tuple[Integers, Place],
) -> pa.Table:
    (op_ids, steps), (order, place) = found, where
    size = len(order)
    launched = linked.launch[order] >= 0
    delay = columns["start"][order] - columns["start"][np.maximum(linked.launch[order], 0)]
    phase = place.phases.at(columns["start"][order])
    step = steps[order]
    lanes = pa.array([lane.name for lane in trace.lanes] or [""], pa.string())
    kinds = {f.name: f.type for f in TABLES["kernel_events"]}
    dictionaries = pa.DictionaryArray.from_arrays
    phases = pa.array([str(value) for value in place.phases.values] or [""], pa.string())
    arrays: Mapping[str, Any] = {
        **_who(place.who, size),
        "op_id": op_ids[order],
        "device": columns["device"][order],
        "lane": dictionaries(pa.array(columns["lane"][order], pa.int32()), lanes),
        "start_ns": columns["start"][order],
        "dur_ns": columns["dur"][order],
        "nested_ns": np.minimum(linked.nested[order], columns["dur"][order]),
        "delay_ns": pa.array(delay, pa.int64(), mask=~launched | (delay < 0)),
        "step": pa.array(step.astype(np.int32), pa.int32(), mask=step < 0),
        "phase": dictionaries(pa.array(np.maximum(phase, 0).astype(np.int32), pa.int32(), mask=phase < 0), phases),
        "window": np.full(size, place.window, np.int16),
    }
    columns_ = [v if isinstance(v, pa.Array) else pa.array(v, kinds[k]) for k, v in arrays.items()]
    return pa.Table.from_arrays(columns_, schema=TABLES["kernel_events"])


def _who(who: Who, size: int) -> dict[str, Any]:
    host = pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([who.host], pa.string()))
    return {"host": host, "rank": np.full(size, who.rank, np.int16), "pid": np.full(size, who.pid, np.int32)}


def with_rank(who: Who, facts: Mapping[str, Any]) -> Who:
    """`who`, as far as a trace says it better."""
    rank, host = facts.get("rank"), facts.get("host")
    return replace(
        who,
        rank=rank if isinstance(rank, int) and 0 <= rank < 32768 else who.rank,
        host=str(host) if host else who.host,
    )
