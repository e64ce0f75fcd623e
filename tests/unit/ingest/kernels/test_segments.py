"""Large traces are taken in segments of time; what comes out is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.kernels import assemble, event_store, segments
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import EventKind

Row = tuple[EventKind, str, int, int, int, int, int]
ENGINE = "autograd::engine::evaluate_function: AddmmBackward0"


def make_trace() -> Trace:
    """300 steps: a layer's operator launches a kernel, its backward operator, on another thread, one more.

    As in files of torch.profiler the host's events come first, the annotations then, and the GPU's last.
    """
    trace = Trace(Path("t.json"), "kineto", "torch", "autograd")
    for number, where in ((0, CPU), (1, CPU), (2, 0)):
        trace.lane(number, Lane(0, number, str(number), where))
    host: list[Row] = []
    ranges: list[Row] = [(EventKind.ANNOTATION, "fit", 0, 300_000, CPU, 0, -1)]
    device: list[Row] = []
    for step in range(300):
        at = step * 1000
        host += [
            (EventKind.OPERATOR, "aten::linear", at + 10, 100, CPU, 0, step),
            (EventKind.OPERATOR, "aten::addmm", at + 20, 60, CPU, 0, step),
            (EventKind.RUNTIME, "cudaLaunchKernel", at + 30, 5, CPU, 0, 2 * step),
            (EventKind.OPERATOR, ENGINE, at + 500, 100, CPU, 1, step),
            (EventKind.OPERATOR, "aten::mm", at + 510, 50, CPU, 1, -1),
            (EventKind.RUNTIME, "cudaLaunchKernel", at + 520, 5, CPU, 1, 2 * step + 1),
        ]
        ranges.append((EventKind.ANNOTATION, f"dlprof:layer:dense_{step % 3}", at, 200, CPU, 0, -1))
        # Kernels run late: some in a later segment than the call that launched them.
        device += [
            (EventKind.KERNEL, "sgemm", at + 450, 300, 0, 2, 2 * step),
            (EventKind.KERNEL, "sgemm_t", at + 800, 300, 0, 2, 2 * step + 1),
        ]
    for rows in (host, ranges, device):
        for first in range(0, len(rows), 100):
            part = rows[first : first + 100]
            columns = dict(zip(("kind", "name", "start", "dur", "device", "lane", "link"), zip(*part)))
            trace.add(**{**columns, "name": [trace.names.number(name) for name in columns["name"]]})
    return trace


def tables(trace: Trace) -> dict[str, list[dict[str, Any]]]:
    """What is stored of a trace: events with their attribution, in order, and the gaps."""
    assembly = assemble.Assembly()
    assembly.add(trace, TraceContext(ProcessId("h", 0, 1, 0), 0, 0))
    made = assembly.tables()
    ops = {row["op_id"]: row for row in made["kernel_ops"].to_pylist()}
    events = [{**ops[row["op_id"]], **row, "op_id": 0} for row in made["kernel_events"].to_pylist()]
    return {
        "events": sorted(events, key=lambda row: (row["start_ns"], row["lane"], row["name"])),
        "gaps": sorted(made["gpu_gaps"].to_pylist(), key=lambda row: row["start_ns"]),
    }


@pytest.fixture
def whole() -> dict[str, list[dict[str, Any]]]:
    """The tables of the trace, taken at once."""
    return tables(make_trace())


@pytest.mark.parametrize("size", [7, 50, 333])
def test_a_trace_in_segments_gives_the_same_as_at_once(
    whole: dict[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Attribution over sequence numbers and launches, own times, delays and steps, to the last row."""
    monkeypatch.setattr(segments, "SEGMENT_EVENTS", size)
    monkeypatch.setattr(event_store, "HELD_EVENTS", 64)
    trace = make_trace()
    assert len(trace.events._files) > 10

    found = tables(trace)

    assert found["events"] == whole["events"]
    sums = [
        {key: sum(row[key] for row in part) for key in ("dur_ns", "host_ns")} for part in (found["gaps"], whole["gaps"])
    ]
    assert sums[0] == sums[1]


def test_a_large_trace_is_cut_where_nothing_runs_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several segments, none of which takes an operator from what is inside it."""
    monkeypatch.setattr(segments, "SEGMENT_EVENTS", 100)
    found = list(segments.cut(make_trace().events))

    assert len(found) > 10
    assert sum(int((~events.context).sum()) for events in found) == 300 * 9 + 1
    for events in found:
        host = events.is_kind(EventKind.OPERATOR)
        assert {int(start) % 1000 for start in events.start[host]} <= {10, 20, 500, 510}
        assert host.sum() % 2 == 0


def test_files_of_a_trace_are_gone_when_it_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left in the folder for temporary files."""
    monkeypatch.setattr(event_store, "HELD_EVENTS", 64)
    trace = make_trace()
    folder = Path(trace.events._folder.name) if trace.events._folder else Path("none")
    assert folder.is_dir()

    tables(trace)

    assert not folder.exists()
