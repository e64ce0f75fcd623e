"""Where operators of Theano run, by their names: Theano calls those of GPUs so."""

from __future__ import annotations

import re

from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import OperatorSum
from dlprof.schema.vocabulary import EventKind

_ON_GPU = re.compile(r"Gpu|GPU")
_TRANSFER = re.compile(r"(HostFromGpu|GpuFromHost|GpuToGpu)")
_THE_GPU = 0
"""A process of Theano computes on one GPU; its profile does not say which."""


def operator_sum(name: str, count: int, total_ns: int) -> OperatorSum:
    """The sum of an operator: a kernel of the GPU, a copy to it or from it, or an operator of the host."""
    if _TRANSFER.match(name):
        return OperatorSum(EventKind.TRANSFER, name, _THE_GPU, count, total_ns)
    if _ON_GPU.match(name):
        return OperatorSum(EventKind.KERNEL, name, _THE_GPU, count, total_ns)
    return OperatorSum(EventKind.OPERATOR, name, CPU, count, total_ns)
