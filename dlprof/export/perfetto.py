"""A run as a trace of Perfetto: packets of protocol buffers, with times in nanoseconds.

Names and facts are interned: a packet holds their numbers. Each track is written as a whole and in order, so that
slices which begin and end at the same moment keep their nesting: the trace processor sorts by time, and keeps the order
of what is equal. Field numbers are those of protos/perfetto/trace in Perfetto's repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from dlprof.analysis.clocks import Clock
from dlprof.analysis.timeline import groups
from dlprof.analysis.timeline.lanes import closings
from dlprof.analysis.timeline.series import Series
from dlprof.analysis.timeline.slices import MISSING, Slices, What
from dlprof.export.protobuf import double, integer, message, tag, text, varint
from dlprof.schema.trace_marks import EXPORTED
from dlprof.store.ranked import Member
from dlprof.store.run import Run

_FLUSH_BYTES = 1 << 20
_NO_PID = 1 << 22
"""From here on Linux gives no process a number."""

# Fields of TracePacket, and values of sequence_flags: interned data begins here; it is needed.
_CLOCKS, _TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS = 6, 8, 10, 11, 12, 13
_TIMESTAMP_CLOCK, _DEFAULTS, _TRACK = 58, 59, 60
_CLEARED, _NEEDED = 1, 2
# ClockSnapshot, its clocks, and their numbers.
_CLOCK, _PRIMARY_CLOCK = 1, 2
_CLOCK_ID, _CLOCK_TIMESTAMP = 1, 2
_REALTIME, _MONOTONIC = 1, 3
# TrackDescriptor, with values of its order and merging; ProcessDescriptor; CounterDescriptor, with one of its units.
_UUID, _NAME, _PROCESS, _PARENT, _COUNTER, _CHILD_ORDER, _RANK, _MERGING = 1, 2, 3, 5, 8, 11, 12, 15
_EXPLICIT_ORDER, _NO_MERGING = 3, 2
_PID, _PROCESS_NAME, _PROCESS_LABEL = 1, 6, 8
_UNIT, _UNIT_NAME = 3, 6
_UNIT_BYTES = 3
# TrackEvent and its types.
_CATEGORY_ID, _FACTS, _TYPE, _NAME_ID, _TRACK_ID, _VALUE = 3, 4, 9, 10, 11, 44
_TYPE_BEGIN, _TYPE_END, _TYPE_COUNTER = 1, 2, 4
# DebugAnnotation.
_FACT_ID, _FACT_INTEGER, _FACT_DOUBLE, _FACT_TEXT_ID = 1, 4, 5, 17
# InternedData, and its entries.
_KINDS = {"category": 1, "name": 2, "fact": 3, "text": 29}
_ID, _TEXT = 1, 2

_OF_SEQUENCE = integer(_SEQUENCE, 1) + integer(_FLAGS, _NEEDED)
_EVENT_TAG, _FACT_TAG, _TIMESTAMP_TAG = tag(_EVENT, 2), tag(_FACTS, 2), tag(_TIMESTAMP)
_PACKET_TAG = tag(1, 2)  # of Trace


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
    timeline = groups.of_run(run)
    writer = _Writer(out, run, timeline.shift_ns)
    writer.clocks()
    for group in timeline.groups:
        writer.group(group)
    writer.flush()
    return timeline.said


def write_ranks(members: Sequence[Member], clock: Clock, out: BinaryIO) -> str:
    """Write the ranks of a training into one trace: each is a process, and what belongs to it is named by its rank.

    Args:
        members: The ranks.
        clock: How their clocks stand to each other; a drift is left out.
        out: Where to.

    Returns:
        How much was written.

    Raises:
        NoInputError: Nothing in a run has a time.
    """
    writer = None
    for member in members:
        timeline = groups.of_run(member.run)
        if writer is None:
            writer = _Writer(out, member.run, timeline.shift_ns)
            writer.clocks()
        writer.turn_to(member.run, timeline.shift_ns, f"rank {member.rank}", clock.placements[member.rank].shift_ns)
        for group in timeline.groups:
            writer.group(group)
        writer.flush()
    return f"{len(members)} ranks"


class _Writer:
    def __init__(self, out: BinaryIO, run: Run, shift_ns: int) -> None:
        self._out = out
        self.turn_to(run, shift_ns)
        self._buffer = bytearray()
        self._pids: set[int] = set()
        self._interned: dict[tuple[str, str], int] = {}
        self._fresh: list[bytes] = []
        self._tracks = 0

    def turn_to(self, run: Run, shift_ns: int, label: str = "", origin_ns: int | None = None) -> None:
        """What follows is of that run: `label` is put before the names of its groups, `origin_ns` is its zero."""
        clock = run.manifest.clock
        self._run, self._label = run, label
        self._zero_ns = (clock.origin_perf_ns if origin_ns is None else origin_ns) + shift_ns
        self._wall_ns = clock.origin_wall_ns + shift_ns if clock.origin_wall_ns else None

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
        shown = {_MONOTONIC: self._zero_ns, _REALTIME: self._wall_ns}
        clocks = [
            message(_CLOCK, integer(_CLOCK_ID, clock), integer(_CLOCK_TIMESTAMP, time_ns))
            for clock, time_ns in shown.items()
            if time_ns is not None
        ]
        self._packet(message(_CLOCKS, *clocks, integer(_PRIMARY_CLOCK, _MONOTONIC)), integer(_SEQUENCE, 1))
        defaults = message(_DEFAULTS, integer(_TIMESTAMP_CLOCK, _MONOTONIC))
        self._packet(defaults, integer(_SEQUENCE, 1), integer(_FLAGS, _CLEARED))

    def group(self, group: groups.Group) -> None:
        """Write a group: its own track, and those in it."""
        own = self._track(self._identity(group), integer(_CHILD_ORDER, _EXPLICIT_ORDER))
        for rank, (name, slices) in enumerate(group.tracks):
            self._slices(self._track(*_child(own, name, rank)), slices)
        for rank, series in enumerate(group.series, len(group.tracks)):
            unit = integer(_UNIT, _UNIT_BYTES) if series.unit == "bytes" else text(_UNIT_NAME, series.unit)
            self._series(self._track(*_child(own, series.name, rank), message(_COUNTER, unit)), series)

    def _identity(self, group: groups.Group) -> bytes:
        """The program's group is a process to Perfetto; the others have only a name."""
        name = self._label or self._run.name
        if group.name != groups.PROGRAM:
            return text(_NAME, f"{self._label}: {group.name}" if self._label else group.name)
        pid = self._pid()
        if pid is None:
            return text(_NAME, name)
        label = text(_PROCESS_LABEL, f"{EXPORTED}{self._run.name}")
        return message(_PROCESS, integer(_PID, pid), text(_PROCESS_NAME, name), label)

    def _pid(self) -> int | None:
        """Number of the process; of one that another rank has, too, as on another machine, one that no process has."""
        pid = self._run.manifest.process.pid
        if pid in self._pids and self._label:
            pid = _NO_PID + len(self._pids)
        if pid is not None:
            self._pids.add(pid)
        return pid

    def _track(self, *fields: bytes) -> int:
        self._tracks += 1
        self._packet(message(_TRACK, integer(_UUID, self._tracks), *fields), integer(_SEQUENCE, 1))
        return self._tracks

    def _number(self, kind: str, value: str) -> int:
        """The number of an interned text; it is written before the packets that use it."""
        key = (kind, value)
        if key not in self._interned:
            self._interned[key] = len(self._interned) + 1
            self._fresh.append(message(_KINDS[kind], integer(_ID, self._interned[key]), text(_TEXT, value)))
        return self._interned[key]

    def _write_interned(self) -> None:
        if self._fresh:
            self._packet(message(_INTERNED, *self._fresh), _OF_SEQUENCE)
            self._fresh = []

    def _slices(self, track: int, slices: Slices) -> None:
        # Most slices of a track are of few kinds, so the bytes of each kind are made once.
        kinds = {number: self._begin(track, slices.whats[number]) for number in sorted(set(slices.what.tolist()))}
        facts = [
            (integer(_FACT_ID, self._number("fact", name)) + tag(_FACT_INTEGER), values.tolist())
            for name, values in slices.own.items()
        ]
        self._write_interned()
        end = _OF_SEQUENCE + message(_EVENT, integer(_TYPE, _TYPE_END), integer(_TRACK_ID, track))
        starts, whats = (slices.start_ns + self._zero_ns).tolist(), slices.what.tolist()
        for position, closed in closings(slices.start_ns, slices.start_ns + slices.dur_ns):
            for at in closed:
                packet = _TIMESTAMP_TAG + varint(at + self._zero_ns) + end
                self._buffer += _PACKET_TAG + varint(len(packet)) + packet
            if position < 0:
                break
            event = kinds[whats[position]]
            for name, values in facts:
                if (value := values[position]) != MISSING:
                    fact = name + varint(value)
                    event += _FACT_TAG + varint(len(fact)) + fact
            time = _TIMESTAMP_TAG + varint(starts[position])
            packet = time + _OF_SEQUENCE + _EVENT_TAG + varint(len(event)) + event
            self._buffer += _PACKET_TAG + varint(len(packet)) + packet
            if len(self._buffer) > _FLUSH_BYTES:
                self.flush()

    def _begin(self, track: int, what: What) -> bytes:
        """The event with which slices of a kind begin, but for what is each slice's own."""
        category, name = self._number("category", what.category), self._number("name", what.name)
        known = integer(_TYPE, _TYPE_BEGIN) + integer(_TRACK_ID, track)
        named = integer(_CATEGORY_ID, category) + integer(_NAME_ID, name)
        return b"".join([known, named, *self._facts(what.facts)])

    def _facts(self, facts: Mapping[str, Any]) -> Iterator[bytes]:
        for name, value in facts.items():
            named = integer(_FACT_ID, self._number("fact", name))
            if isinstance(value, str):
                yield message(_FACTS, named, integer(_FACT_TEXT_ID, self._number("text", value)))
            elif isinstance(value, int):
                yield message(_FACTS, named, integer(_FACT_INTEGER, value))
            elif value is not None:
                yield message(_FACTS, named, double(_FACT_DOUBLE, value))

    def _series(self, track: int, series: Series) -> None:
        for time_ns, value in zip(series.time_ns.tolist(), series.values.tolist(), strict=True):
            told = integer(_TYPE, _TYPE_COUNTER) + integer(_TRACK_ID, track) + double(_VALUE, value)
            self._packet(integer(_TIMESTAMP, time_ns + self._zero_ns), _OF_SEQUENCE, message(_EVENT, told))


def _child(parent: int, name: str, rank: int) -> tuple[bytes, ...]:
    return integer(_PARENT, parent), text(_NAME, name), integer(_RANK, rank), integer(_MERGING, _NO_MERGING)
