"""What traces tell of memory."""

from __future__ import annotations

import json
from typing import Any

from dlprof.report import traced_memory
from dlprof.report.model import Report, Source
from dlprof.schema.vocabulary import RunState
from tests.unit.report.reports import report


def _report(*memory: list[dict[str, Any]]) -> Report:
    sources = tuple(
        Source(f"{at}.json", "kineto", 1, 0, json.dumps({"memory": found})) for at, found in enumerate(memory)
    )
    return report(state=RunState.IMPORTED, sources=sources)


def _peak(device: str, allocated: int, reserved: int | None = None) -> dict[str, Any]:
    return {"device": device, "records": 1, "peak_allocated_bytes": allocated, "peak_reserved_bytes": reserved}


def test_peaks_of_devices_come_before_that_of_the_host() -> None:
    """Of several files the largest."""
    first, second = [_peak("cpu", 1 << 20), _peak("gpu:0", 2 << 20, 3 << 20)], [_peak("gpu:0", 1 << 20)]

    assert traced_memory.told(_report(first, second)) == (
        "at most 2 MB allocated of 3 MB reserved on gpu:0; 1 MB allocated on the host, of what the profiler "
        "saw allocated"
    )


def test_a_trace_without_records_tells_nothing() -> None:
    """Nothing is no zero."""
    assert traced_memory.told(_report([])) == ""
