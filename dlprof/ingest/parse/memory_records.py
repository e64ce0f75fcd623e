"""What torch.profiler records of allocators (`profile_memory=True`): the most that was held, device by device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome import Event

RECORD = "[memory]"
"""The name of these instants."""
_CPU = 0
"""Type of the device that is the host; the others are accelerators."""
_INSTANTS = ("i", "I")


@dataclass(frozen=True)
class Peak:
    """Records of the allocator of one device.

    Attributes:
        records: How many there are.
        allocated: The most that was held (bytes); on the host of what was taken while the profiler ran.
        reserved: The most that the allocator had of the device (bytes); 0: it keeps none.
    """

    records: int
    allocated: int
    reserved: int

    def with_others(self, other: Peak) -> Peak:
        """Both together."""
        return Peak(
            self.records + other.records,
            max(self.allocated, other.allocated),
            max(self.reserved, other.reserved),
        )


Row = tuple[str, int, int | None, int, int, int | None]
"""Process, type and number of the device, records, most allocated and most reserved bytes."""


class MemoryRecords:
    """The peaks of a file, by process and device."""

    def __init__(self) -> None:
        self._peaks: dict[tuple[str, str], Peak] = {}

    def take(self, rows: Iterable[Row]) -> None:
        """Take sums over records."""
        for process, sort, number, records, allocated, reserved in rows:
            device = "cpu" if sort == _CPU else f"gpu:{max(0, number or 0)}"
            if (process, device) not in self._peaks:
                budget().hold_texts(2, len(process), "devices of allocators")
            known = self._peaks.get((process, device), Peak(0, 0, 0))
            self._peaks[process, device] = known.with_others(Peak(records, allocated, reserved or 0))

    def facts(self, process: str | None = None) -> Sequence[Mapping[str, Any]]:
        """What is told of each device: of one process, or of all together."""
        found: dict[str, Peak] = {}
        for (whose, device), peak in self._peaks.items():
            if process is None or whose == process:
                found[device] = peak.with_others(found.get(device, Peak(0, 0, 0)))
        return [
            {
                "device": device,
                "records": peak.records,
                "peak_allocated_bytes": peak.allocated,
                "peak_reserved_bytes": peak.reserved or None,
            }
            for device, peak in sorted(found.items())
        ]


def row(event: Event, process: str) -> Row | None:
    """What an event tells, if it is such a record; None: those of older versions do not tell what is held in all."""
    args = event.args
    if event.name != RECORD or event.ph not in _INSTANTS or args is None:
        return None
    sort, number, allocated, reserved = map(_whole, (args.device_type, args.device_id, args.allocated, args.reserved))
    return None if sort is None or allocated is None else (process, sort, number, 1, allocated, reserved)


def _whole(value: float | str | None) -> int | None:
    """A number that a table can hold, also one in a text."""
    try:
        number = int(value) if value is not None else None
    except (ValueError, OverflowError):
        return None
    return number if number is None or abs(number) < 1 << 62 else None
