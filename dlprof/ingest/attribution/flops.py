"""Floating-point operations of operators whose shapes the trace tells."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from dlprof.ingest.kernels.scopes import Scope, Work
from dlprof.schema.vocabulary import EventKind

TORCH_OPERATORS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
"""Operators of PyTorch whose shapes tell their operations."""


@dataclass(frozen=True, slots=True)
class TorchShapes(Scope):
    """The shapes of what an operator of PyTorch took: `Input Dims` of the profiler, as JSON."""

    dims: str
    TELLS_WORK_OF: ClassVar[tuple[EventKind, ...]] = (EventKind.OPERATOR,)

    def work(self, name: str) -> Work:
        """The operations of an operator of that name."""
        return Work(flops=of_torch(name, self.dims))


@cache
def of_torch(op: str, dims: str) -> float | None:
    """Operations of one execution of an operator of PyTorch; None where they are not known.

    Args:
        op: For example `aten::addmm`.
        dims: `Input Dims` of the profiler, as JSON.
    """
    try:
        shapes = json.loads(dims)
        return _of_shapes(op, shapes)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError):
        return None


def _of_shapes(op: str, shapes: list[Any]) -> float | None:
    if op == "aten::mm":
        return _matmul(shapes[0], shapes[1])
    if op == "aten::addmm":
        return _matmul(shapes[1], shapes[2])
    if op in ("aten::bmm", "aten::baddbmm"):
        a, b = (shapes[0], shapes[1]) if op == "aten::bmm" else (shapes[1], shapes[2])
        return 2.0 * a[0] * a[1] * a[2] * b[2] if a[2] == b[1] else None
    return None


def _matmul(a: list[int], b: list[int]) -> float | None:
    if len(a) != 2 or len(b) != 2 or a[1] != b[0]:
        return None
    return 2.0 * math.prod(a) * b[1]
