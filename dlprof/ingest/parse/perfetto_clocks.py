"""The clocks of a Perfetto trace: several of the system, and those of its writers, brought to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dlprof.ingest.limits import budget
from dlprof.ingest.parse.protowire import Span, fields, signed

_REALTIME, _BOOTTIME = 1, 6
_CLOCK_BYTES = 300
_FIRST_OWN = 64
"""Numbers of clocks that belong to one writer begin here."""


@dataclass
class _OwnClock:
    """A clock of one writer.

    Attributes:
        now_ns: The last time that it showed, on the clock of the trace (ns).
        unit_ns: Its unit (ns).
        is_incremental: Whether it counts from its last time.
        base: What it showed when `now_ns` was taken first.
    """

    now_ns: int
    unit_ns: int
    is_incremental: bool
    base: int


class Clocks:
    """What each clock of the system showed at one moment; times are on the first snapshot's primary clock."""

    def __init__(self) -> None:
        self._shown: dict[int, int] = {}
        self._primary = _BOOTTIME
        self._own: dict[int, dict[int, _OwnClock]] = {}
        """By writer, and by number."""

    @property
    def zero_ns(self) -> int | None:
        """Unix time of the zero of the trace's clock (ns); None: no snapshot tells."""
        wall, own = self._shown.get(_REALTIME), self._shown.get(self._primary)
        if wall is None or own is None or abs(wall - own) >= 2**62:
            return None
        return wall - own

    def snapshot(self, data: Any, span: Span, sequence: int) -> None:
        """Take a snapshot of several clocks."""
        clocks: dict[int, dict[int, Any]] = {}
        primary = 0
        for number, value in fields(data, *span):
            if number == 1 and isinstance(value, tuple):
                clock: dict[int, Any] = dict(fields(data, *value))
                clocks[_number(clock, 1)] = clock
            elif number == 2 and isinstance(value, int):
                primary = value
        if not self._shown:
            self._primary = primary or self._primary
        shown = {number: _number(clock, 2) for number, clock in clocks.items() if number < _FIRST_OWN}
        for number, time in shown.items():
            self._shown.setdefault(number, time)  # few: their numbers are small
        now = next((self._converted(time, number) for number, time in shown.items()), 0)
        for number, clock in clocks.items():
            if number >= _FIRST_OWN:
                unit = _number(clock, 4) or 1
                own = _OwnClock(now, unit, bool(_number(clock, 3)), _number(clock, 2))
                budget().hold(_CLOCK_BYTES, "clocks")
                self._own.setdefault(sequence, {})[number] = own

    def clear(self, sequence: int) -> None:
        """Forget the clocks of a writer that begins anew."""
        self._own.pop(sequence, None)

    def time_ns(self, timestamp: int, clock: int, sequence: int) -> int:
        """A time on the clock of the trace (ns); `clock` 0 is that clock itself."""
        own = self._own.get(sequence, {}).get(clock) if clock >= _FIRST_OWN else None
        if own is None:
            return self._converted(timestamp, clock or self._primary)
        if own.is_incremental:
            own.now_ns += timestamp * own.unit_ns
            return own.now_ns
        return own.now_ns + (timestamp - own.base) * own.unit_ns

    def _converted(self, time: int, clock: int) -> int:
        here, there = self._shown.get(clock), self._shown.get(self._primary)
        return time if here is None or there is None else time - here + there


def _number(parts: dict[int, Any], key: int) -> int:
    value = parts.get(key, 0)
    return signed(value) if isinstance(value, int) else 0
