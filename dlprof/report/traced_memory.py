"""What foreign traces tell of memory: the most that an allocator held, device by device."""

from __future__ import annotations

import json
from typing import Any

from dlprof.report.model import Report
from dlprof.units import safe, size

_HOST = "cpu"


def told(report: Report) -> str:
    """The peaks of all devices; of several files the largest. Empty: no trace tells any."""
    peaks: dict[str, tuple[int, int]] = {}
    for source in report.sources if report.imported else ():
        facts: Any = json.loads(source.facts or "{}")
        for one in facts.get("memory") or ():
            allocated, reserved = int(one["peak_allocated_bytes"]), int(one["peak_reserved_bytes"] or 0)
            known = peaks.get(str(one["device"]), (0, 0))
            peaks[str(one["device"])] = max(known[0], allocated), max(known[1], reserved)
    order = sorted(peaks.items(), key=lambda peak: peak[0] == _HOST)
    parts = [_of_device(device, *peak) for device, peak in order]
    return f"at most {'; '.join(parts)}" if parts else ""


def _of_device(device: str, allocated: int, reserved: int) -> str:
    if device == _HOST:
        return f"{size(allocated)} allocated on the host, of what the profiler saw allocated"
    of = f" of {size(reserved)} reserved" if reserved else ""
    return f"{size(allocated)} allocated{of} on {safe(device)}"
