"""The packets of a Perfetto trace: what track events say, once their interned texts, clocks and tracks are looked up.

Field numbers are those of protos/perfetto/trace in Perfetto's repository. Only track events are taken: packets of other
data sources are counted.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dlprof.ingest.limits import budget
from dlprof.ingest.parse.perfetto_clocks import Clocks
from dlprof.ingest.parse.protowire import Span, WireError, fields, signed, varint

_PACKET = 1
_CLOCK_SNAPSHOT, _TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS = 6, 8, 10, 11, 12, 13
_CLEARED, _DROPPED, _COMPRESSED, _CLOCK, _DEFAULTS, _TRACK = 41, 42, 50, 58, 59, 60
_DESCRIPTORS = {43: "process", 44: "thread"}
_ENVELOPE = frozenset((
    _CLOCK_SNAPSHOT, _TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS, _CLEARED, _DROPPED, _COMPRESSED, _CLOCK,
    _DEFAULTS, _TRACK, *_DESCRIPTORS, 3, 33, 35, 36, 79, 84, 87, 88, 89, 90, 98, 99,
))  # fmt: skip
"""Fields that are no events of another data source: configuration, statistics, synchronisation."""
_INTERNED_KINDS = {1: "category", 2: "name"}
_UNPACKED_AT_MOST = 1 << 28
_LABELS = 64
"""So many are kept of a trace."""


class EventType(Enum):
    """What a track event is."""

    BEGIN = 1
    END = 2
    INSTANT = 3
    COUNTER = 4
    WHOLE = 5
    """An event with a duration, of those that came from Chrome's format."""
    OTHER = 0


@dataclass(frozen=True)
class TrackEvent:
    """A track event.

    Attributes:
        type: What it is.
        time_ns: When, on the clock of the trace.
        track: Number of its track.
        name: Its name; may be empty, as that of an end is.
        category: The first of its categories; may be empty.
        dur_ns: Its duration, of an event that is whole.
    """

    type: EventType
    time_ns: int
    track: int
    name: str
    category: str
    dur_ns: int = 0


@dataclass
class Track:
    """A track.

    Attributes:
        name: Its name; may be empty.
        parent: Number of the track that it lies in; 0: none.
        process: Number of its process, or 0.
        thread: Number of its thread, or 0.
    """

    name: str = ""
    parent: int = 0
    process: int = 0
    thread: int = 0


@dataclass
class _Sequence:
    """What the packets of one writer share."""

    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    track: int = 0
    clock: int = 0

    def intern(self, kind: str, number: int, text: str) -> None:
        """Remember a text."""
        known = self.texts.get((kind, number))
        budget().hold_texts(known is None, len(text) - len(known or ""), "interned texts")
        self.texts[kind, number] = text

    def clear(self) -> None:
        """Forget what was interned."""
        budget().hold_texts(-len(self.texts), -sum(map(len, self.texts.values())), "")
        self.texts.clear()
        self.track = self.clock = 0


class Packets:
    """Reads packets one after another.

    Attributes:
        tracks: Tracks by number, as far as they were described.
        processes: Names of processes by number, likewise.
        labels: What processes are labelled with.
        clocks: The clocks of the trace.
        others: Packets of other data sources, by the number of their field.
        lost: Places at which a writer lost packets.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._sequences: dict[int, _Sequence] = {}
        self.tracks: dict[int, Track] = {}
        self.processes: dict[int, str] = {}
        self.labels: set[str] = set()
        self.clocks = Clocks()
        self.others: Counter[int] = Counter()
        self.lost = 0
        self._unpacked = 0

    def events(self) -> Iterator[TrackEvent]:
        """The track events, in the order of the file.

        Raises:
            WireError: The file is damaged.
        """
        for number, value in fields(self._data, 0, len(self._data)):
            if number == _PACKET and isinstance(value, tuple):
                yield from self._packet(self._data, value)

    def _packet(self, data: Any, span: Span) -> Iterator[TrackEvent]:
        parts: dict[int, Any] = dict(fields(data, *span))
        budget().rows(1)
        if isinstance(parts.get(_COMPRESSED), tuple):
            if data is not self._data:
                raise WireError("packed packets inside packed ones", span[0])
            yield from self._compressed(data, parts[_COMPRESSED])
            return
        number = _whole(parts, _SEQUENCE)
        if number not in self._sequences:
            budget().lane()
            self._sequences[number] = _Sequence()
        sequence = self._sequences[number]
        if _whole(parts, _FLAGS) & 1 or _whole(parts, _CLEARED):
            sequence.clear()
            self.clocks.clear(number)
        self.lost += bool(_whole(parts, _DROPPED))
        self._take_context(data, parts, number, sequence)
        if isinstance(parts.get(_EVENT), tuple):
            yield self._event(data, parts, number, sequence)
        elif other := next((key for key in parts if key not in _ENVELOPE), None):
            self.others[other] += 1

    def _compressed(self, data: Any, span: Span) -> Iterator[TrackEvent]:
        unpacker, most = zlib.decompressobj(), min(_UNPACKED_AT_MOST, budget().limits.piece_bytes)
        try:
            inner = unpacker.decompress(bytes(data[span[0] : span[1]]), most)
        except zlib.error as error:
            raise WireError(f"packed packets that are damaged: {error}", span[0]) from error
        if unpacker.unconsumed_tail:
            raise budget().exceeded(f"packed packets of more than {most >> 20} MiB")
        self._unpacked += len(inner)
        if self._unpacked > budget().limits.unpacked_bytes:
            raise budget().exceeded(f"unpacked it is larger than {budget().limits.unpacked_bytes >> 20:,} MiB")
        try:
            for number, value in fields(inner, 0, len(inner)):
                if number == _PACKET and isinstance(value, tuple):
                    yield from self._packet(inner, value)
        except WireError as error:
            raise WireError(f"{error}, in packed packets", span[0]) from error

    def _take_context(self, data: Any, parts: dict[int, Any], number: int, sequence: _Sequence) -> None:
        """Clocks, defaults, interned texts and tracks that a packet brings."""
        if isinstance(parts.get(_CLOCK_SNAPSHOT), tuple):
            self.clocks.snapshot(data, parts[_CLOCK_SNAPSHOT], number)
        if isinstance(parts.get(_DEFAULTS), tuple):
            defaults: dict[int, Any] = dict(fields(data, *parts[_DEFAULTS]))
            sequence.clock = _whole(defaults, _CLOCK)
            if isinstance(defaults.get(11), tuple):
                sequence.track = _whole(dict(fields(data, *defaults[11])), 11)
        if isinstance(parts.get(_INTERNED), tuple):
            for kind, entry in fields(data, *parts[_INTERNED]):
                if kind in _INTERNED_KINDS and isinstance(entry, tuple):
                    pair: dict[int, Any] = dict(fields(data, *entry))
                    sequence.intern(_INTERNED_KINDS[kind], _whole(pair, 1), _text(data, pair, 2))
        if isinstance(parts.get(_TRACK), tuple):
            self._take_track(data, dict(fields(data, *parts[_TRACK])))

    def _take_track(self, data: Any, parts: dict[int, Any]) -> None:
        number = _whole(parts, 1)
        if number not in self.tracks:
            budget().lane()
            self.tracks[number] = Track()
        track = self.tracks[number]
        track.name = _text(data, parts, 2) or _text(data, parts, 10) or track.name
        track.parent = _whole(parts, 5) or track.parent
        if isinstance(parts.get(3), tuple):
            process: dict[int, Any] = dict(fields(data, *parts[3]))
            track.process, name = _whole(process, 1), _text(data, process, 6)
            track.name = track.name or name
            if name or track.process not in self.processes:
                self.processes[track.process] = name
            if len(self.labels) < _LABELS and (label := _text(data, process, 8)):
                self.labels.add(label)
        if isinstance(parts.get(4), tuple):
            thread: dict[int, Any] = dict(fields(data, *parts[4]))
            track.process, track.thread = _whole(thread, 1), _whole(thread, 2)
            track.name = track.name or _text(data, thread, 5)

    def _event(self, data: Any, parts: dict[int, Any], number: int, sequence: _Sequence) -> TrackEvent:
        event: dict[int, Any] = {}
        for key, value in fields(data, *parts[_EVENT]):
            event.setdefault(key, value)  # of several categories the first counts
        legacy: dict[int, Any] = dict(fields(data, *event[6])) if isinstance(event.get(6), tuple) else {}
        name = sequence.texts.get(("name", _whole(event, 10) or _whole(legacy, 1)), "") or _text(data, event, 23)
        category = sequence.texts.get(("category", _first_packed(data, event.get(3))), "") or _text(data, event, 22)
        clock = _whole(parts, _CLOCK) or sequence.clock
        time_ns = self.clocks.time_ns(_whole(parts, _TIMESTAMP), clock, number)
        track = _whole(event, 11) or sequence.track
        return TrackEvent(_type(event, legacy), time_ns, track, name, category, _whole(legacy, 3) * 1000)


def _type(event: dict[int, Any], legacy: dict[int, Any]) -> EventType:
    number, phase = _whole(event, 9), chr(_whole(legacy, 2) % 128)
    by_phase = {"B": EventType.BEGIN, "E": EventType.END, "X": EventType.WHOLE, "I": EventType.INSTANT}
    if number in (1, 2, 3, 4):
        return EventType(number)
    return by_phase.get(phase, EventType.OTHER)


def _whole(parts: dict[int, Any], key: int) -> int:
    value = parts.get(key, 0)
    return signed(value) if isinstance(value, int) else 0


def _text(data: Any, parts: dict[int, Any], key: int) -> str:
    place = parts.get(key)
    return bytes(data[slice(*place)]).decode("utf-8", "replace") if isinstance(place, tuple) else ""


def _first_packed(data: Any, value: Any) -> int:
    """The first number of a field that may be packed."""
    if isinstance(value, tuple):
        return varint(data, *value)[0] if value[0] < value[1] else 0
    return value if isinstance(value, int) else 0
