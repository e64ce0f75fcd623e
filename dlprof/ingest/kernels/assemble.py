"""Makes the tables of kernels out of traces: attribution, places on the run's timeline, gaps of the GPUs."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.ingest.artifact import Health
from dlprof.ingest.attribution import paths, registry
from dlprof.ingest.attribution.base import Attributor
from dlprof.ingest.attribution.hlo_labels import HloLabels
from dlprof.ingest.attribution.labels import Label
from dlprof.ingest.kernels import held, input_stages, segments, steps
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.doubled import Doubled
from dlprof.ingest.kernels.event_table import EventTable
from dlprof.ingest.kernels.events import Events, Integers
from dlprof.ingest.kernels.gaps import GapFinder
from dlprof.ingest.kernels.held import HeldAtPeak
from dlprof.ingest.kernels.input_stages import DatasetGraph
from dlprof.ingest.kernels.kernel_ops import KernelOps
from dlprof.ingest.kernels.linking import Linked, link
from dlprof.ingest.kernels.scopes import HloInstruction
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.tables import TABLES


@dataclass
class Assembly:
    """Tables of kernels, growing trace by trace.

    Attributes:
        sink: Takes the rows of `kernel_events` as they are made; None: they are kept for `tables`.
        health: What the user must know of the traces.
        pipelines: The input pipelines that the program made.
    """

    sink: Callable[[pa.Table], None] | None = None
    health: list[Health] = field(default_factory=list)
    pipelines: Sequence[DatasetGraph] = ()
    _ops: KernelOps = field(default_factory=KernelOps)
    _events: list[pa.Table] = field(default_factory=list)
    _totals: list[dict[str, Any]] = field(default_factory=list)
    _gaps: list[pa.Table] = field(default_factory=list)
    _input_stages: list[dict[str, Any]] = field(default_factory=list)
    _held: list[dict[str, Any]] = field(default_factory=list)

    def add(self, trace: Trace, context: TraceContext) -> tuple[int, int]:
        """Add a trace; its events are given up.

        Returns:
            Start of its first and end of its last event on the run's timeline (ns); (0, 0) if it has none.
        """
        self._add_sums(trace, context)
        first, last = trace.first_ns, trace.last_ns
        if first is not None:
            self._add_events(trace, context)
        self._add_input(trace, context)
        self._add_held(trace, context)
        self.health.extend(trace.health)
        return (0, 0) if first is None or last is None else (first + context.shift_ns, last + context.shift_ns)

    def _add_sums(self, trace: Trace, context: TraceContext) -> None:
        self._totals += [
            {
                **context.process.columns,
                "op_id": self._ops.number_sum(row),
                "device": row.device,
                "count": row.count,
                "total_ns": row.total_ns,
                "min_ns": row.min_ns,
                "max_ns": row.max_ns,
                "window": context.window,
            }
            for row in trace.sums or ()
        ]

    def _add_input(self, trace: Trace, context: TraceContext) -> None:
        end_ns = context.shift_ns + (trace.last_ns or 0)
        self._input_stages += [
            {**context.process.columns, "window": context.window, **row}
            for row in input_stages.rows(trace.input_stages, self.pipelines, end_ns)
        ]

    def _add_held(self, trace: Trace, context: TraceContext) -> None:
        """What was held at the peak of a step: of several windows the one that had most."""
        found, label = _held(trace, context)
        if found is None or found.bytes <= sum(row["bytes"] for row in self._held):
            return
        time = {"time_ns": None if found.time_ns is None else found.time_ns + context.shift_ns}
        self._held = [{**context.process.columns, **time, **row} for row in held.rows(found, label)]

    def held(self) -> pa.Table:
        """Rows of `memory_owners`: what an allocator held at the peak of a traced step."""
        return pa.Table.from_pylist(self._held, schema=TABLES["memory_owners"])

    def _add_events(self, trace: Trace, context: TraceContext) -> None:
        attribution = registry.named(trace.attribution)
        attributor = attribution.begin(trace, context.model)
        gaps = GapFinder(trace.names, context.process, context.window)
        table = EventTable(trace.lanes, context)
        overlapping, twice = 0, Doubled()
        # Gaps need nothing of the rest: they are found beside it, one segment after the other.
        with ThreadPoolExecutor(1, "dlprof-gaps") as beside:
            for segment in segments.cut(trace.events, whole=attribution.needs_whole_trace):
                events = segment.shifted(context.shift_ns)
                linked = link(events)
                overlapping += linked.overlapping
                twice.look(events)
                found = beside.submit(contextvars.copy_context().run, gaps.find, events, linked)
                op_ids = self._ops.number_events(trace, events, attributor.labels(events, linked))
                rows = table.rows(events, linked, op_ids, _steps(trace, context, attributor, events, linked))
                self._take(_inside(rows, context.span))
                self._gaps.append(_inside(found.result(), context.span))
        if overlapping:
            text = (
                f"{overlapping} operators of {trace.path.name} overlap others of their thread: their time is cut there."
            )
            self.health.append(Health("trace-overlapping", "info", text, overlapping))

        if twice.are_many:
            text = (
                f"{100 * twice.again / twice.seen:.0f} % of the operators and kernels of {trace.path.name} are there "
                "before, with the same name, thread, begin and duration: what they took is counted twice."
            )
            self.health.append(Health("trace-doubled", "warning", text, twice.again))

    def _take(self, events: pa.Table) -> None:
        if self.sink is not None:
            self.sink(events)
        else:
            self._events.append(events)

    def tables(self) -> dict[str, pa.Table]:
        """The tables."""
        events = {} if self.sink is not None else {"kernel_events": _joined("kernel_events", self._events)}
        return {
            **events,
            "kernel_ops": self._ops.table(),
            "kernel_totals": pa.Table.from_pylist(self._totals, schema=TABLES["kernel_totals"]),
            "gpu_gaps": _joined("gpu_gaps", self._gaps),
            "input_stages": pa.Table.from_pylist(self._input_stages, schema=TABLES["input_stages"]),
        }


def _held(trace: Trace, context: TraceContext) -> tuple[HeldAtPeak | None, Callable[[str], Label]]:
    """What a step held, by records of an allocator or by XLA's plan; and whose each part is."""
    if not trace.plans:
        records = trace.allocations if len(context.steps) else None
        found = held.at_peak(records, context.steps, context.shift_ns) if records is not None else None
        return found, lambda path: paths.label(path, context.model)
    module, program = max(trace.plans, key=lambda key: trace.plans[key].bytes)
    labels = HloLabels(trace.programs, context.model)
    instructions = trace.programs.get(f"{module}({program})", {})

    def label(op: str) -> Label:
        layer, direction = labels.label(HloInstruction(op, module, program, ""))[0]
        known = instructions.get(op)
        # What XLA put in itself, such as a copy in another order, is room that it needs.
        return Label(layer, direction if known is not None and known.op_name else None)

    return held.planned(trace.plans[module, program]), label


def _steps(trace: Trace, context: TraceContext, attributor: Attributor, events: Events, linked: Linked) -> Integers:
    """The step of each event, as the attribution tells it, else by time."""
    if len(context.steps):
        told = attributor.steps(events, context.steps)
        return told if told is not None else steps.by_time(events, linked, context.steps)
    return steps.by_time(events, linked, steps.annotated(events, trace.names))


def _inside(rows: pa.Table, span: tuple[int, int] | None) -> pa.Table:
    """Rows that begin in a stretch of the run's timeline (ns); all of them where there is none."""
    if span is None:
        return rows
    begin, end = span
    return rows.filter(pc.and_(pc.greater_equal(rows["start_ns"], begin), pc.less(rows["start_ns"], end)))


def _joined(name: str, tables: Iterable[pa.Table]) -> pa.Table:
    parts = list(tables)
    return pa.concat_tables(parts).unify_dictionaries() if parts else TABLES[name].empty_table()
