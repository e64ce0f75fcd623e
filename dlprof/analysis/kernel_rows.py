"""Rows of sums of kernels: what they are told apart by, and what is known of operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.analysis.columns import Integers
from dlprof.schema.vocabulary import EventKind
from dlprof.store.run import Run

GROUPS: Mapping[str, tuple[str, ...]] = {
    "kernel": ("name", "op", "category", "layer", "direction"),
    "op": ("op",),
    "layer": ("layer", "direction", "op", "category"),
    "category": ("category",),
    "direction": ("direction",),
    "line": ("file", "line"),
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
CPU = -1
"""The host, in the column `device`."""


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


class Ops:
    """The table `kernel_ops`, by column, with the rows of chosen kinds marked."""

    def __init__(self, run: Run, kinds: Sequence[str]) -> None:
        ops, self.device_name = run.table("kernel_ops"), run.manifest.device_name
        size = max(ops["op_id"].to_pylist(), default=-1) + 1
        self.columns: dict[str, list[Any]] = {}
        place = ops["op_id"].to_pylist()
        for name in ("kind", "name", "op", "category", "layer", "direction", "flops", "bytes", "file", "line"):
            column: list[Any] = [None] * size
            for number, value in zip(place, ops[name].to_pylist(), strict=True):
                column[number] = value
            self.columns[name] = column
        self.is_chosen = np.asarray([kind in kinds for kind in self.columns["kind"]], bool)
        self.is_loose = np.asarray([layer is None for layer in self.columns["layer"]], bool)

    def folded(self) -> Ops:
        """The same, where operators that are told of no layer are one of each kind and direction, by their number."""
        found: dict[tuple[Any, Any], dict[str, None]] = {}
        loose = np.flatnonzero(self.is_loose).tolist()
        for number in loose:
            found.setdefault(self._pass(number), {})[self.columns["op"][number] or ""] = None
        made = copy(self)
        made.columns = {**self.columns, "op": list(self.columns["op"]), "category": list(self.columns["category"])}
        for number in loose:
            if (count := len(found[self._pass(number)])) > 1:
                made.columns["op"][number], made.columns["category"][number] = f"{count} operators", None
        return made

    def _pass(self, number: int) -> tuple[Any, Any]:
        return self.columns["direction"][number], self.columns["kind"][number]


def classes_of(ops: Ops, by: str) -> tuple[list[dict[str, Any]], Integers]:
    """What tells operators apart, each combination once, and which of them each operator has."""
    names = names_of(by)
    columns = [ops.columns[name] for name in names]
    numbers: dict[tuple[Any, ...], int] = {}
    class_of_op = [numbers.setdefault(values, len(numbers)) for values in zip(*columns, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in numbers], np.asarray(class_of_op, np.int64)


def names_of(by: str) -> tuple[str, ...]:
    """Columns of `kernel_ops` by which rows are told apart."""
    return (*(name for name in GROUPS[by] if name != "step"), "kind")


def known_sum(values: Sequence[float | None], counts: Mapping[int, int]) -> float | None:
    """Sum over executions of what is known of their operators; None: of one it is not known.

    Args:
        values: By the number of the operator.
        counts: Executions of each operator.
    """
    total = 0.0
    for number, count in counts.items():
        value = values[number]
        if value is None:
            return None
        total += value * count
    return total


@dataclass(frozen=True)
class Events:
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


@dataclass(frozen=True)
class Summed:
    """Sums of executions, without those of profilers that keep no times.

    Attributes:
        rows: By group.
        host_ns, device_ns: Time on the host, and on devices, without what runs inside (ns).
        host_loose_ns, loose_ns: Of those, what belongs to no layer (ns).
        on_devices: Whether anything ran on a device.
    """

    rows: Sequence[Row]
    host_ns: int
    device_ns: int
    host_loose_ns: int
    loose_ns: int
    on_devices: bool
