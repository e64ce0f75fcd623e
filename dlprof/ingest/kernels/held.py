"""What an engine's allocator held at the peak of a step, by the records that it left in a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dlprof.ingest.attribution.labels import Label
from dlprof.ingest.kernels.events import Booleans, Integers
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.parse.hlo_buffers import Plan
from dlprof.schema.vocabulary import HELD_AT_PEAK, Direction, MemoryBasis, MemoryKind


@dataclass(frozen=True)
class Allocations:
    """Records of allocators in order of time, by columns.

    Attributes:
        time_ns: When (ns, clock of the trace).
        is_given: Whether it was given back; else it was taken.
        address: Where it begins.
        bytes: How much was taken, which may be more than was asked for; of what is given back it need not be told.
        op: Path of the operator that asked, as a number of `texts`; -1: not told.
        allocator: Name of the allocator, likewise.
        texts: By number.
    """

    time_ns: Integers
    is_given: Booleans
    address: Integers
    bytes: Integers
    op: Integers
    allocator: Integers
    texts: Mapping[int, str] = field(default_factory=dict)

    def of_allocator(self, number: int) -> Allocations:
        """The records of one of them."""
        keep = self.allocator == number
        return Allocations(
            self.time_ns[keep], self.is_given[keep], self.address[keep], self.bytes[keep], self.op[keep],
            self.allocator[keep], self.texts,
        )  # fmt: skip


@dataclass(frozen=True)
class HeldAtPeak:
    """What was there at the peak of a step, and had not been there at its begin: by records, or by a plan.

    Attributes:
        time_ns: When (ns, clock of the trace); None: a plan tells no time.
        allocator: Name of the allocator; None: it is a plan.
        bytes: How much more there was than at the begin of the step.
        replaced: What had been there then, and was given back meanwhile (bytes): `by_op` sums to so much more.
        by_op: Path of an operator, or name of an instruction, to the bytes that it had asked for, and in how many
            pieces.
    """

    time_ns: int | None
    allocator: str | None
    bytes: int
    replaced: int
    by_op: Mapping[str, tuple[int, int]]


def at_peak(records: Allocations, steps: Intervals, shift_ns: int) -> HeldAtPeak | None:
    """The largest peak of all whole steps, of the allocator that has most; None: nothing was taken in one.

    The first step is left out where there are others: what it replaced was taken before the trace was begun, and its
    size is not known.

    Args:
        records: The records.
        steps: Steps, on the run's timeline.
        shift_ns: What is added to the trace's times to get those of the run.
    """
    numbers = [number for number in np.unique(records.allocator).tolist() if number >= 0]
    found = [_of_one(records.of_allocator(number), number, steps, shift_ns) for number in numbers]
    return max((one for one in found if one is not None), key=lambda one: one.bytes, default=None)


def planned(plan: Plan) -> HeldAtPeak:
    """What a plan of XLA has at its peak; room that no buffer has then is of no instruction."""
    by_op = dict(plan.at_peak)
    unused = plan.bytes - sum(size for size, _ in by_op.values())
    if unused > 0:
        by_op[""] = unused, 0
    return HeldAtPeak(None, None, plan.bytes, max(0, -unused), by_op)


def _of_one(records: Allocations, allocator: int, steps: Intervals, shift_ns: int) -> HeldAtPeak | None:
    change, taken_at = _changes(records)
    live = np.cumsum(change)
    best: tuple[int, int, int, int] | None = None
    begins, ends = (np.searchsorted(records.time_ns, edge - shift_ns) for edge in (steps.starts, steps.ends))
    for first, last in list(zip(begins.tolist(), ends.tolist(), strict=True))[1 if len(steps) > 1 else 0 :]:
        if first == last:
            continue
        before = int(live[first - 1]) if first else 0
        row = first + int(np.argmax(live[first:last]))
        if best is None or live[row] - before > best[0]:
            best = int(live[row]) - before, first, row, before
    if best is None or best[0] <= 0:
        return None
    height, first, row, _ = best
    alive = _alive(records, taken_at, first, row)
    by_op: dict[str, tuple[int, int]] = {}
    for one in alive:
        path = records.texts.get(int(records.op[one]), "")
        size, count = by_op.get(path, (0, 0))
        by_op[path] = size + int(records.bytes[one]), count + 1
    replaced = sum(size for size, _ in by_op.values()) - height
    return HeldAtPeak(int(records.time_ns[row]), records.texts.get(allocator, ""), height, replaced, by_op)


def _changes(records: Allocations) -> tuple[Integers, Integers]:
    """By how much each record changes what is there; and the row at which what it gives back was taken, or -1."""
    change, taken_at = np.zeros(len(records.bytes), np.int64), np.full(len(records.bytes), -1, np.int64)
    there: dict[int, int] = {}
    rows = zip(records.is_given.tolist(), records.address.tolist(), records.bytes.tolist(), strict=True)
    for row, (is_given, address, size) in enumerate(rows):
        if not is_given:
            there[address] = row
            change[row] = size
        elif address in there:
            taken_at[row] = there.pop(address)
            change[row] = -records.bytes[taken_at[row]]
    return change, taken_at


def _alive(records: Allocations, taken_at: Integers, first: int, last: int) -> list[int]:
    """Rows in which something was taken between two rows, both included, and not given back until then."""
    given = set(taken_at[first : last + 1].tolist())
    taken = np.flatnonzero(~records.is_given[first : last + 1]) + first
    return [row for row in taken.tolist() if row not in given]


def rows(found: HeldAtPeak, label: Callable[[str], Label]) -> list[dict[str, Any]]:
    """Rows of the table `memory_owners`, but for columns of the process and the time; they sum to what was held.

    What forward operators made is there for the backward pass (`activations`); all else is `workspace`, and what was
    replaced is taken from that of no layer.

    Args:
        found: What was there.
        label: Layer and direction of an operator's path.
    """
    sums: dict[tuple[MemoryKind, Label], tuple[int, int]] = {}
    for path, (size, count) in found.by_op.items():
        whose = label(path)
        kind = MemoryKind.ACTIVATIONS if whose.direction == Direction.FORWARD else MemoryKind.WORKSPACE
        before, pieces = sums.get((kind, whose), (0, 0))
        sums[kind, whose] = before + size, pieces + count
    replaced = found.replaced
    for key in sorted((one for one in sums if one[0] == MemoryKind.WORKSPACE), key=lambda one: one[1].layer or ""):
        size, pieces = sums[key]
        sums[key] = size - min(size, replaced), pieces
        replaced -= min(size, replaced)
    return [
        {
            "layer": whose.layer,
            "name": HELD_AT_PEAK,
            "kind": kind,
            "direction": whose.direction,
            "device": found.allocator,
            "bytes": size,
            "how": MemoryBasis.EXACT,
            "count": pieces,
        }
        for (kind, whose), (size, pieces) in sums.items()
        if size
    ]
