"""Records of allocators in traces of torch.profiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.formats import kineto
from dlprof.ingest.parse import chrome_tables, memory_records
from dlprof.ingest.parse.chrome import Args, Event
from dlprof.ingest.parse.memory_records import MemoryRecords

PEAKS = [
    {"device": "cpu", "records": 2, "peak_allocated_bytes": 300, "peak_reserved_bytes": None},
    {"device": "gpu:1", "records": 1, "peak_allocated_bytes": 500, "peak_reserved_bytes": 900},
]


def test_peaks_are_told_by_device() -> None:
    """Of a process, or of all."""
    records = MemoryRecords()
    records.take([("7", 0, -1, 1, 100, 0), ("7", 0, -1, 1, 300, 0), ("8", 1, 1, 1, 500, 900)])

    assert records.facts() == PEAKS
    assert records.facts("8") == PEAKS[1:]


@pytest.mark.parametrize("args", [{}, {"device_type": 0}, {"device_type": 0, "allocated": "a"}])
def test_a_record_without_its_figures_is_none(args: dict[str, Any]) -> None:
    """Those of older versions have only the size of the piece."""
    event = Event(ph="i", name="[memory]", args=Args(**args))

    assert memory_records.row(event, "7") is None


def _record(sort: int, number: int, allocated: int, reserved: int) -> dict[str, Any]:
    args = {
        "Device Type": sort, "Device Id": number, "Total Allocated": allocated, "Total Reserved": reserved, "Bytes": 4,
    }  # fmt: skip
    return {
        "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": 5, "args": args,
    }  # fmt: skip


@pytest.mark.parametrize("is_table", [True, False])
def test_a_trace_is_read_alike_as_a_table_and_event_by_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_table: bool
) -> None:
    """And other instants are counted as passed over."""
    operators = [{"ph": "X", "cat": "cpu_op", "name": "f", "pid": 7, "tid": 7, "ts": at, "dur": 1} for at in range(300)]
    records = [_record(0, -1, 100, 0), _record(0, -1, 300, 0), _record(1, 1, 500, 900)]
    other = {"ph": "i", "cat": "cpu_instant_event", "name": "[OutOfMemory]", "pid": 7, "tid": 7, "ts": 5}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [*records, other, *operators]}))
    monkeypatch.setattr(chrome_tables, "BLOCK_BYTES", 5000)
    if not is_table:
        monkeypatch.setattr(chrome_tables, "_separator", lambda _text: None)

    content = kineto.read(path)

    assert content.facts["memory"] == PEAKS
    assert [skipped.events for skipped in content.skipped] == [1]
