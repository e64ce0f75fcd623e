"""Attribution of traces of CUDA's tools."""

from __future__ import annotations

from dlprof.ingest.kernels.events import CPU
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled, make_trace


def test_the_range_around_the_launch_names_the_operator() -> None:
    """Without the sequence number that PyTorch writes behind it; a name can tell the backward pass."""
    trace = make_trace(
        [
            (EventKind.ANNOTATION, "linear, seq = 7", 0, 50, CPU, 0, -1),
            (EventKind.RUNTIME, "cudaLaunchKernel", 10, 5, CPU, 0, 1),
            (EventKind.ANNOTATION, "AddmmBackward, seq = 7", 100, 50, CPU, 0, -1),
            (EventKind.RUNTIME, "cudaLaunchKernel", 110, 5, CPU, 0, 2),
            (EventKind.KERNEL, "sgemm", 60, 20, 0, 2, 1),
            (EventKind.KERNEL, "sgemm_t", 160, 20, 0, 2, 2),
        ],
        "range",
    )

    assert labelled(trace)[4:] == [("sgemm", None, "linear"), ("sgemm_t", (None, "backward"), "AddmmBackward")]
