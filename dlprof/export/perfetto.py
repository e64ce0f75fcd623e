"""A run as a trace of Perfetto: packets of protocol buffers, with times in nanoseconds.

Names and facts are interned: a packet holds their numbers. Each track is written as a whole and in order, so that
slices which begin and end at the same moment keep their nesting: the trace processor sorts by time, and keeps the order
of what is equal. Field numbers are those of protos/perfetto/trace in Perfetto's repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from dlprof.export import timeline
from dlprof.export.lanes import closings
from dlprof.export.protobuf import double, integer, message, tag, text, varint
from dlprof.export.series import Series
from dlprof.export.slices import MISSING, Slices, What
from dlprof.store.run import Run

_SEQUENCE = 1
_CLEARED, _NEEDED = 1, 2  # sequence_flags: the interned data begins here; it is needed
_BEGIN, _END, _COUNTER = 1, 2, 4  # TrackEvent.Type
_REALTIME, _MONOTONIC = 1, 3  # clocks
_EXPLICIT_ORDER, _NO_MERGING = 3, 2
_FLUSH_BYTES = 1 << 20
_INTERNED = {"category": 1, "name": 2, "fact": 3, "text": 29}  # fields of InternedData


def write(run: Run, out: BinaryIO) -> str:
    """Write the trace.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.

    Raises:
        NoInputError: Nothing in the run has a time.
    """
    found = timeline.of_run(run)
    writer = _Writer(out, run, found.shift_ns)
    writer.clocks()
    for group in found.groups:
        writer.group(group)
    writer.flush()
    return found.said


class _Writer:
    def __init__(self, out: BinaryIO, run: Run, shift_ns: int) -> None:
        self._out, self._run = out, run
        clock = run.manifest.get("clock") or {}
        self._zero_ns = int(clock.get("origin_perf_ns") or 0) + shift_ns
        self._wall_ns = (int(clock["origin_wall_ns"]) + shift_ns) if clock.get("origin_wall_ns") else None
        self._buffer = bytearray()
        self._interned: dict[tuple[str, str], int] = {}
        self._fresh: list[bytes] = []
        self._tracks = 0

    def flush(self) -> None:
        """Hand over what has been gathered."""
        self._out.write(self._buffer)
        self._buffer.clear()

    def _packet(self, *fields: bytes) -> None:
        self._buffer += message(1, *fields)
        if len(self._buffer) > _FLUSH_BYTES:
            self.flush()

    def clocks(self) -> None:
        """Say that times are of CLOCK_MONOTONIC, and what the wall clock showed at the run's zero."""
        clocks = [message(1, integer(1, _MONOTONIC), integer(2, self._zero_ns))]
        if self._wall_ns is not None:
            clocks.append(message(1, integer(1, _REALTIME), integer(2, self._wall_ns)))
        self._packet(message(6, *clocks, integer(2, _MONOTONIC)), integer(10, _SEQUENCE))
        defaults = message(59, integer(58, _MONOTONIC))
        self._packet(defaults, integer(10, _SEQUENCE), integer(13, _CLEARED))

    def group(self, group: timeline.Group) -> None:
        """Write a group: its own track, and those in it."""
        own = self._track(*self._identity(group), integer(11, _EXPLICIT_ORDER))
        place = 0
        for place, (name, slices) in enumerate(group.tracks):
            track = self._track(*_child(own, name, place))
            self._slices(track, slices)
        for rank, series in enumerate(group.series, place + 1):
            unit = message(8, integer(3, 3)) if series.unit == "bytes" else message(8, text(6, series.unit))
            self._series(self._track(*_child(own, series.name, rank), unit), series)

    def _identity(self, group: timeline.Group) -> list[bytes]:
        """The program's group is a process to Perfetto; the others have only a name."""
        pid = (self._run.manifest.get("process") or {}).get("pid")
        if group.name != timeline.PROGRAM:
            return [text(2, group.name)]
        if pid is None:
            return [text(2, self._run.name)]
        return [message(3, integer(1, pid), text(6, self._run.name))]

    def _track(self, *fields: bytes) -> int:
        self._tracks += 1
        self._packet(message(60, integer(1, self._tracks), *fields), integer(10, _SEQUENCE))
        return self._tracks

    def _number(self, kind: str, value: str) -> int:
        """The number of an interned text; it is written before the packets that use it."""
        key = (kind, value)
        if key not in self._interned:
            self._interned[key] = len(self._interned) + 1
            self._fresh.append(message(_INTERNED[kind], integer(1, self._interned[key]), text(2, value)))
        return self._interned[key]

    def _write_interned(self) -> None:
        if self._fresh:
            self._packet(message(12, *self._fresh), integer(10, _SEQUENCE), integer(13, _NEEDED))
            self._fresh = []

    def _slices(self, track: int, slices: Slices) -> None:
        # Most slices of a track are of few kinds, so the bytes of each kind are made once.
        kinds = {number: self._begin(track, slices.whats[number]) for number in sorted(set(slices.what.tolist()))}
        facts = [
            (tag(4, 2), integer(1, self._number("fact", name)) + tag(4), values.tolist())
            for name, values in slices.own.items()
        ]
        self._write_interned()
        head = tag(8)
        tail = integer(10, _SEQUENCE) + integer(13, _NEEDED)
        end = tail + message(11, integer(9, _END), integer(11, track))
        starts, whats = (slices.start_ns + self._zero_ns).tolist(), slices.what.tolist()
        for position, closed in closings(slices.start_ns, slices.start_ns + slices.dur_ns):
            for at in closed:
                packet = head + varint(at + self._zero_ns) + end
                self._buffer += b"\n" + varint(len(packet)) + packet
            if position < 0:
                break
            event = kinds[whats[position]]
            for before, name, values in facts:
                if (value := values[position]) != MISSING:
                    fact = name + varint(value)
                    event += before + varint(len(fact)) + fact
            packet = head + varint(starts[position]) + tail + _EVENT + varint(len(event)) + event
            self._buffer += b"\n" + varint(len(packet)) + packet
            if len(self._buffer) > _FLUSH_BYTES:
                self.flush()

    def _begin(self, track: int, what: What) -> bytes:
        """The event with which slices of a kind begin, but for what is each slice's own."""
        category, name = self._number("category", what.category), self._number("name", what.name)
        fields = [integer(9, _BEGIN), integer(11, track), integer(3, category), integer(10, name)]
        return b"".join([*fields, *self._facts(what.facts)])

    def _facts(self, facts: Mapping[str, Any]) -> Iterator[bytes]:
        for name, value in facts.items():
            named = integer(1, self._number("fact", name))
            if isinstance(value, str):
                yield message(4, named, integer(17, self._number("text", value)))
            elif isinstance(value, int):
                yield message(4, named, integer(4, value))
            elif value is not None:
                yield message(4, named, double(5, value))

    def _series(self, track: int, series: Series) -> None:
        for time_ns, value in zip(series.time_ns.tolist(), series.values.tolist(), strict=True):
            event = message(11, integer(9, _COUNTER), integer(11, track), double(44, value))
            self._packet(integer(8, time_ns + self._zero_ns), integer(10, _SEQUENCE), integer(13, _NEEDED), event)


_EVENT = tag(11, 2)


def _child(parent: int, name: str, rank: int) -> tuple[bytes, ...]:
    return integer(5, parent), text(2, name), integer(12, rank), integer(15, _NO_MERGING)
