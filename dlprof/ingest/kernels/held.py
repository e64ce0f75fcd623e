"""What an engine's allocator held at the peak of a step, by the records that it left in a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dlprof.ingest.attribution.labels import NOBODY, Label
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
        asked: How much was asked for (bytes).
        taken: How much was taken for it, which may be more; of what is given back neither need be told.
        op: Path of the operator that asked, as a number of `texts`; -1: not told.
        allocator: Name of the allocator, likewise.
        texts: By number.
    """

    time_ns: Integers
    is_given: Booleans
    address: Integers
    asked: Integers
    taken: Integers
    op: Integers
    allocator: Integers
    texts: Mapping[int, str] = field(default_factory=dict)

    def of_allocator(self, number: int) -> Allocations:
        """The records of one of them."""
        keep = self.allocator == number
        return Allocations(
            self.time_ns[keep], self.is_given[keep], self.address[keep], self.asked[keep], self.taken[keep],
            self.op[keep], self.allocator[keep], self.texts,
        )  # fmt: skip


@dataclass(frozen=True)
class HeldAtPeak:
    """What was there at the peak of a step, and had not been there at its begin: by records, or by a plan.

    Attributes:
        time_ns: When (ns, clock of the trace); None: a plan tells no time.
        allocator: Name of the allocator; None: it is a plan.
        bytes: How much more was taken than at the begin of the step.
        by_op: Path of an operator, or name of an instruction, to the bytes that it had asked for since, and in how many
            pieces. They sum to less where more is taken than was asked for, and to more where something was replaced
            that had been there before.
    """

    time_ns: int | None
    allocator: str | None
    bytes: int
    by_op: Mapping[str, tuple[int, int]]


def at_peak(records: Allocations, steps: Intervals, shift_ns: int) -> HeldAtPeak | None:
    """The peak of a usual step, of the allocator that has most; None: nothing was taken in one.

    Operators that may run side by side come in another order each time, and the peak with them: the step with the
    middle one of all peaks is told. The first step is left out where there are others: what it replaced was taken
    before the trace was begun, and its size is not known.

    Args:
        records: The records.
        steps: Steps, on the run's timeline.
        shift_ns: What is added to the trace's times to get those of the run.
    """
    numbers = [number for number in np.unique(records.allocator).tolist() if number >= 0]
    found = [_of_one(records.of_allocator(number), number, steps, shift_ns) for number in numbers]
    return max((one for one in found if one is not None), key=lambda one: one.bytes, default=None)


def planned(plan: Plan) -> HeldAtPeak:
    """What a plan of XLA has at its peak."""
    return HeldAtPeak(None, None, plan.bytes, plan.at_peak)


def _of_one(records: Allocations, allocator: int, steps: Intervals, shift_ns: int) -> HeldAtPeak | None:
    change, taken_at = _changes(records)
    live = np.cumsum(change)
    peaks: list[tuple[int, int, int]] = []
    begins, ends = (np.searchsorted(records.time_ns, edge - shift_ns) for edge in (steps.starts, steps.ends))
    for first, last in list(zip(begins.tolist(), ends.tolist(), strict=True))[1 if len(steps) > 1 else 0 :]:
        before = int(live[first - 1]) if first else 0
        row = first + int(np.argmax(live[first:last])) if first < last else first
        if first < last and live[row] > before:
            peaks.append((int(live[row]) - before, first, row))
    if not peaks:
        return None
    height, first, row = sorted(peaks)[len(peaks) // 2]
    alive = _alive(records, taken_at, first, row)
    by_op: dict[str, tuple[int, int]] = {}
    for one in alive:
        path = records.texts.get(int(records.op[one]), "")
        size, count = by_op.get(path, (0, 0))
        by_op[path] = size + int(records.asked[one]), count + 1
    return HeldAtPeak(int(records.time_ns[row]), records.texts.get(allocator, ""), height, by_op)


def _changes(records: Allocations) -> tuple[Integers, Integers]:
    """By how much each record changes what is there; and the row at which what it gives back was taken, or -1."""
    change, taken_at = np.zeros(len(records.taken), np.int64), np.full(len(records.taken), -1, np.int64)
    there: dict[int, int] = {}
    rows = zip(records.is_given.tolist(), records.address.tolist(), records.taken.tolist(), strict=True)
    for row, (is_given, address, size) in enumerate(rows):
        if not is_given:
            there[address] = row
            change[row] = size
        elif address in there:
            taken_at[row] = there.pop(address)
            change[row] = -records.taken[taken_at[row]]
    return change, taken_at


def _alive(records: Allocations, taken_at: Integers, first: int, last: int) -> list[int]:
    """Rows in which something was taken between two rows, both included, and not given back until then."""
    given = set(taken_at[first : last + 1].tolist())
    taken = np.flatnonzero(~records.is_given[first : last + 1]) + first
    return [row for row in taken.tolist() if row not in given]


def rows(found: HeldAtPeak, label: Callable[[str], Label]) -> list[dict[str, Any]]:
    """Rows of the table `memory_owners`, but for columns of the process and the time; they sum to what was held.

    What forward operators made is there for the backward pass (`activations`); all else is `workspace`: also what is
    taken beyond what was asked for, and without what was replaced.

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
    rest = found.bytes - sum(size for size, _ in sums.values())
    if rest > 0:
        size, pieces = sums.get((MemoryKind.WORKSPACE, NOBODY), (0, 0))
        sums[MemoryKind.WORKSPACE, NOBODY] = size + rest, pieces
    for key in sorted((one for one in sums if one[0] == MemoryKind.WORKSPACE), key=lambda one: one[1].layer or ""):
        size, pieces = sums[key]
        less = min(size, max(0, -rest))
        sums[key], rest = (size - less, pieces), rest + less
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
