"""The distinct things that events are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dlprof.ingest.attribution.flops import TorchShapes
from dlprof.ingest.attribution.labels import Labels
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.kernel_ops import KernelOps, _combined
from dlprof.ingest.kernels.scopes import BytesMoved, NodePath, Scope
from dlprof.ingest.kernels.trace import OperatorSum, Trace
from dlprof.schema.vocabulary import EventKind


def numbered(*rows: tuple[EventKind, str, Scope | None]) -> tuple[list[int], list[dict[str, Any]]]:
    """The row of each event (kind, name, scope), and the rows."""
    trace, ops = Trace(Path("t.json"), "kineto", "torch"), KernelOps()
    trace.add_rows(
        [
            EventRow(
                kind, trace.names.number(name), 0, 1, 0, scope=NONE if scope is None else trace.scopes.number(scope)
            )
            for kind, name, scope in rows
        ]
    )
    events = trace.events.take()
    numbers = ops.number_events(trace, events, Labels.empty(len(events)))
    return numbers.tolist(), ops.table().to_pylist()


def test_equal_events_share_a_row() -> None:
    """Scopes of no work do not tell them apart."""
    numbers, rows = numbered(
        (EventKind.OPERATOR, "mm", NodePath("a")),
        (EventKind.OPERATOR, "mm", NodePath("b")),
        (EventKind.KERNEL, "mm", None),
    )

    assert numbers == [0, 0, 1]
    assert [(row["kind"], row["name"], row["category"]) for row in rows] == [
        ("operator", "mm", "matmul"),
        ("kernel", "mm", "matmul"),
    ]


def test_the_bytes_of_copies_are_told() -> None:
    """Those of other kinds of events are not: what they mean is not known."""
    numbers, rows = numbered(
        (EventKind.TRANSFER, "Memcpy", BytesMoved(64)),
        (EventKind.TRANSFER, "Memcpy", BytesMoved(8)),
        (EventKind.KERNEL, "k", BytesMoved(64)),
        (EventKind.KERNEL, "k", BytesMoved(8)),
    )

    assert (numbers, [row["bytes"] for row in rows]) == ([0, 1, 2, 2], [64.0, 8.0, None])


def test_the_operations_of_operators_with_shapes_are_told() -> None:
    """Of those whose shapes tell them."""
    _, rows = numbered(
        (EventKind.OPERATOR, "aten::mm", TorchShapes("[[2, 3], [3, 5]]")),
        (EventKind.OPERATOR, "aten::mm", TorchShapes("[]")),
    )

    assert [row["flops"] for row in rows] == [60.0, None]


def test_a_sum_is_a_row_of_its_name_alone() -> None:
    """An operator's name is that of the operator; calls and copies have a category by their names."""
    ops = KernelOps()
    for kind, name in ((EventKind.OPERATOR, "Dot22"), (EventKind.RUNTIME, "cudaMemcpy"), (EventKind.OPERATOR, "Dot22")):
        ops.number_sum(OperatorSum(kind, name, CPU, 1, 1))

    assert [(row["kind"], row["op"], row["category"]) for row in ops.table().to_pylist()] == [
        ("operator", "Dot22", "matmul"),
        ("runtime", None, "transfer"),
    ]


def test_parts_are_told_apart_though_their_product_is_beyond_64_bits() -> None:
    """Four columns of two million values each."""
    high = 2_000_000
    parts = [np.array([0, high, high, 0, high]) for _ in range(4)] + [np.array([0, 1, 0, 0, 1])]

    code = _combined(parts, 5)

    assert (code[0] == code[3], code[1] == code[4], len(set(code.tolist()))) == (True, True, 3)
