"""Rows of `kernel_ops`: the distinct things that events are, each with a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.attribution.categories import category, category_of_event
from dlprof.ingest.attribution.labels import NOBODY, Labels
from dlprof.ingest.kernels.events import NONE, Events, Integers
from dlprof.ingest.kernels.numbered import Bounded
from dlprof.ingest.kernels.scopes import Work
from dlprof.ingest.kernels.trace import OperatorSum, Trace
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import Category, Direction, EventKind


class KernelOp(NamedTuple):
    """What an event is, and whose; the columns of `kernel_ops`."""

    kind: str
    name: str
    op: str | None
    category: Category
    layer: str | None = None
    direction: Direction | None = None
    flops: float | None = None
    bytes: float | None = None
    file: str | None = None
    line: int | None = None


class KernelOps:
    """The rows of `kernel_ops`, growing trace by trace."""

    def __init__(self) -> None:
        self._ops: Bounded[KernelOp] = Bounded()

    def number_sum(self, row: OperatorSum) -> int:
        """The row of a sum over executions, whose layer nobody knows."""
        op = row.name if row.kind is EventKind.OPERATOR else None
        sort = category(op or "", row.name) if row.tells_work else Category.OTHER
        return self._ops.number(KernelOp(row.kind.word, row.name, op, sort))

    def number_events(self, trace: Trace, events: Events, labels: Labels) -> Integers:
        """The row of each event."""
        parts = (events.kind, events.name, labels.label, labels.op, labels.line, _telling_scopes(trace, events))
        first, inverse = _first_of_each(_combined(parts, len(events)))
        numbers = np.empty(len(first), np.int64)
        for position, row in enumerate(first.tolist()):
            numbers[position] = self._ops.number(_op_of(trace, labels, *(int(part[row]) for part in parts)))
        return numbers[inverse]

    def table(self) -> pa.Table:
        """The table."""
        rows = [{"op_id": number, **op._asdict()} for number, op in enumerate(self._ops.values)]
        return pa.Table.from_pylist(rows, schema=TABLES["kernel_ops"])


def _combined(parts: Sequence[npt.NDArray[Any]], size: int) -> Integers:
    """One number per event, equal where all its parts are; numbered anew before it outgrows 64 bits."""
    code, codes = np.zeros(size, np.int64), 1
    for part in parts:
        low = int(part.min(initial=0))
        width = int(part.max(initial=0)) - low + 1
        if codes * width >= 1 << 62:
            first, code = _first_of_each(code)
            codes = max(1, len(first))
        code = code * width + (part - low)
        codes *= width
    return code


def _first_of_each(code: Integers) -> tuple[Integers, Integers]:
    """The first place of each value, and for each place the number of its value; by hashing, not by sorting."""
    encoded = pa.array(code).dictionary_encode()
    inverse = np.asarray(encoded.indices)
    first = np.empty(len(encoded.dictionary), np.int64)
    first[inverse[::-1]] = np.arange(len(code) - 1, -1, -1)
    return first, inverse


def _telling_scopes(trace: Trace, events: Events) -> Integers:
    """Scopes of those events whose work they tell; events of all others are told apart by their labels alone."""
    keep = np.zeros(len(events), bool)
    for kind in {kind for scope in trace.scopes.values for kind in scope.TELLS_WORK_OF}:
        tells = [kind in scope.TELLS_WORK_OF for scope in trace.scopes.values]
        keep |= (events.kind == kind) & np.asarray([*tells, False])[events.scope]  # the last one is that of NONE
    return np.where(keep, events.scope.astype(np.int64), NONE)


def _op_of(  # noqa: PLR0913, PLR0917
    trace: Trace, labels: Labels, kind: int, name: int, label: int, op: int, line: int, scope: int
) -> KernelOp:
    text, operator = trace.names[name], labels.ops[op] if op >= 0 else None
    layer, direction = labels.labels[label] if label >= 0 else NOBODY
    work = trace.scopes[scope].work(text) if scope >= 0 else Work()
    what = EventKind(kind)
    sort = category_of_event(what, operator, text, direction)
    place = labels.lines[line] if line >= 0 else (None, None)
    return KernelOp(what.word, text, operator, sort, layer, direction, work.flops, work.moved_bytes, *place)
