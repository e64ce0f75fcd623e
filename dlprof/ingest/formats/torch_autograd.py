"""Reads traces of `torch.autograd.profiler` from before Kineto (PyTorch up to 1.8): Chrome JSON without categories."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU, EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns, thread_number
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema.vocabulary import EventKind

_HOST, _DEVICE = "CPU functions", "CUDA functions"
"""What the file calls its processes; the thread of a kernel is the number of its device."""
_DEVICES = range(1 << 15)


def claims(sample: Sample) -> bool:
    """Whether a file has the processes of torch.autograd.profiler."""
    head = sample.chrome
    return head is not None and any(event.pid in (_HOST, _DEVICE) for event in head.events)


def read(path: Path) -> FileContent:
    """The operators of a trace, and the kernels that it saw.

    Raises:
        ArtifactError: The file is damaged.
    """
    source, passed_over = ChromeFile(path), PassedOver()
    trace = Trace(path, "torch-autograd", "torch", attribution="autograd")
    for piece in source.pieces():
        read_here = [event for event in piece if event.ph == "X" and event.pid in (_HOST, _DEVICE)]
        trace.add_rows([_row(trace, event) for event in read_here])
        passed_over.add_all(event for event in piece if not (event.ph == "X" and event.pid in (_HOST, _DEVICE)))
    passed_over.tell(trace)
    source.judge(trace)
    return FileContent.of(trace)


def _row(trace: Trace, event: Event) -> EventRow:
    number = thread_number(event)
    device = number if event.pid == _DEVICE and number in _DEVICES else CPU
    kind = EventKind.KERNEL if event.pid == _DEVICE else EventKind.OPERATOR
    device = 0 if kind is EventKind.KERNEL and device == CPU else device
    lane_name = f"thread {number}" if device == CPU else "kernels"
    lane = trace.lane((event.pid, event.tid), Lane(0, number, lane_name, device))
    name = trace.names.number(str(event.name))
    return EventRow(kind, name, as_ns(event.ts), max(0, as_ns(event.dur)), lane, device)


READER = Reader("torch-autograd", "torch.autograd.profiler before Kineto (JSON)", claims, read)
