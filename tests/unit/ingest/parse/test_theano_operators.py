"""Where operators of Theano run, by their names."""

from __future__ import annotations

import pytest

from dlprof.ingest.kernels.trace import OperatorSum
from dlprof.ingest.parse.theano_operators import operator_sum
from dlprof.schema.vocabulary import EventKind


@pytest.mark.parametrize(
    ("name", "kind", "device"),
    [
        ("GpuElemwise{Add}[(0, 0)]<gpuarray>", EventKind.KERNEL, 0),
        ("GpuDnnConv{algo='small', inplace=True, num_groups=1}", EventKind.KERNEL, 0),
        ("GPUA_mrg_uniform{GpuArrayType<None>(float32, matrix),inplace}", EventKind.KERNEL, 0),
        ("GpuFromHost<None>", EventKind.TRANSFER, 0),
        ("HostFromGpu(gpuarray)", EventKind.TRANSFER, 0),
        ("Elemwise{Composite{(i0 + GpuThing)}}", EventKind.OPERATOR, -1),
        ("CGemv{inplace}", EventKind.OPERATOR, -1),
    ],
)
def test_the_name_tells_where_it_ran(name: str, kind: EventKind, device: int) -> None:
    """Of both of Theano's libraries for GPUs; only its beginning counts."""
    assert operator_sum(name, 3, 70) == OperatorSum(kind, name, device, 3, 70)
