"""The planes and lines of an XSpace (`.xplane.pb`): what stands around the events, and where the events lie.

The bytes may lie; a file is mapped, and nothing is kept of it but names and places.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from dlprof.ingest.kernels.events import Integers
from dlprof.ingest.limits import budget
from dlprof.ingest.parse import hlo, hlo_buffers, xlines
from dlprof.ingest.parse.protowire import Span, WireError, fields, signed, varint
from dlprof.ingest.parse.protowire import field as field_at
from dlprof.ingest.parse.xlines import PIECE_BYTES, Bytes

_Read = TypeVar("_Read")
_PLANE, _ERROR, _WARNING, _HOST = 1, 2, 3, 4
_NAME, _LINES, _EVENT_METADATA, _STAT_METADATA, _STATS = 2, 3, 4, 5, 6
_DISPLAY_NAME, _METADATA_STATS = 4, 5
_EVENT_TAG = 0x22
"""Tag of the events of a line: field 4, with a length."""
_EVENT_BYTES = 3 + (1 << 14)
"""An event whose length takes two bytes is no longer."""
_PROGRAM = "hlo_proto"
_DOUBLE = struct.Struct("<d")
_HEAD_BYTES = 1000
"""What stands in a file beside its planes, and a plane without lines and names (bytes)."""


@dataclass
class Plane:
    """A plane, without its events.

    Attributes:
        name: Its name.
        lines: Where its lines lie.
        names: Names of events, by number.
        stats: Names of stats, and texts that stats refer to, by number.
        own: Stats of the plane itself.
        event_metadata: Where the metadata of events lie, by number.
    """

    name: str = ""
    lines: list[Span] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    stats: dict[int, str] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    event_metadata: dict[int, Span] = field(default_factory=dict)

    def stat_numbers(self, names: Collection[str]) -> list[int]:
        """The numbers of the stats with these names; those that the plane has."""
        return [number for number, name in self.stats.items() if name in names]


@dataclass(frozen=True)
class Line:
    """The head of a line, and where its events lie.

    Attributes:
        number: Its number.
        name: Its name.
        timestamp_ns: The time that its events count from (ns).
        first: Position of its first event.
        end: Position behind the line.
    """

    number: int
    name: str
    timestamp_ns: int
    first: int
    end: int


@dataclass(frozen=True)
class Piece:
    """Some MB of a line's events.

    Attributes:
        data: The bytes.
        begins: Where each event begins in them, and behind the last whole one.
        at: Position of the first byte in the file.
    """

    data: Bytes
    begins: Integers
    at: int


@dataclass(frozen=True)
class Described:
    """What the metadata of an event tell beside its name.

    Attributes:
        short: The name for display; may be empty.
        stats: Stats that all events of that name share.
    """

    short: str
    stats: Mapping[str, Any]


@dataclass
class SpaceHead:
    """What stands in an XSpace beside its events.

    Attributes:
        planes: Its planes.
        hosts: Names of machines.
        problems: Errors and warnings of the profiler.
    """

    planes: list[Plane] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class SpaceBytes:
    """The bytes of an XSpace.

    All methods raise WireError where the bytes are damaged.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def head(self) -> SpaceHead:
        """All that stands beside the events."""
        head = SpaceHead()
        for number, value in fields(self._data, 0, len(self._data)):
            budget().lane()
            if number == _PLANE:
                head.planes.append(self._plane(value))
            elif number == _HOST:
                head.hosts.append(self._text(value))
            elif number in (_ERROR, _WARNING):
                head.problems.append(self._text(value))
        return head

    def _text(self, value: int | Span) -> str:
        start, end = _span(value)
        if end - start > budget().limits.text_bytes:
            raise budget().exceeded(f"a name of more than {budget().limits.text_bytes >> 20} MiB")
        return bytes(self._data[start:end]).decode("utf-8", "replace")

    def _plane(self, value: int | Span) -> Plane:
        plane = Plane()
        stats = []
        for number, part in fields(self._data, *_span(value)):
            if number == _NAME:
                plane.name = self._text(part)
            elif number == _LINES:
                budget().lane()
                plane.lines.append(_span(part))
            elif number in (_EVENT_METADATA, _STAT_METADATA):
                self._read_metadata(plane, _span(part), of_events=number == _EVENT_METADATA)
            elif number == _STATS:
                budget().hold(_HEAD_BYTES, "stats of planes")
                stats.append(_span(part))
        plane.own = dict(self._stat(plane, stat) for stat in stats)
        return plane

    def _read_metadata(self, plane: Plane, entry: Span, *, of_events: bool) -> None:
        key, message = 0, None
        for number, value in fields(self._data, *entry):
            if number == 1 and isinstance(value, int):
                key = signed(value)
            elif number == 2:
                message = _span(value)
        if message is None:
            return
        budget().name("")
        name = ""
        for number, value in fields(self._data, *message):
            if number == 2:
                name = self._text(value)
        budget().hold_texts(1, len(name), "names of events")
        (plane.names if of_events else plane.stats)[key] = name
        if of_events:
            plane.event_metadata[key] = message

    def _stat(self, plane: Plane, span: Span) -> tuple[str, Any]:
        """Name and value of a stat; bytes as their place."""
        name: str = ""
        content: Any = None
        for number, value in fields(self._data, *span):
            if number == 1 and isinstance(value, int):
                name = plane.stats.get(value, str(value))
            elif number == 7 and isinstance(value, int):
                content = plane.stats.get(value, "")
            elif number in (3, 4) and isinstance(value, int):
                content = signed(value) if number == 4 else value
            elif number == 2 and isinstance(value, tuple) and value[1] - value[0] == _DOUBLE.size:
                content = _DOUBLE.unpack(bytes(self._data[value[0] : value[1]]))[0]
            elif number in (5, 6) and isinstance(value, tuple):
                content = value if number == 6 else self._text(value)
        return name, content

    def described(self, plane: Plane, number: int) -> Described:
        """What the metadata of an event tell beside its name; nothing where there are none of that number."""
        span = plane.event_metadata.get(number)
        short, stats = "", {}
        for key, value in fields(self._data, *span) if span is not None else ():
            if key == _DISPLAY_NAME and isinstance(value, tuple):
                short = self._text(value)
            elif key == _METADATA_STATS and isinstance(value, tuple):
                name, content = self._stat(plane, value)
                stats[name] = content
        return Described(short, stats)

    def count(self, line: Line) -> int:
        """How many events a line has."""
        return sum(len(piece.begins) - 1 for piece in self.pieces(line))

    def programs(self, plane: Plane) -> Iterator[tuple[str, hlo.Program]]:
        """The compiled programs in the metadata of a plane, with their names."""
        for name, span in self._programs(plane):
            yield name, self._read(span, lambda data: hlo.read(data)[1])

    def plans(self, plane: Plane, wanted: Collection[str]) -> Iterator[tuple[str, hlo_buffers.Plan]]:
        """What was planned for the temporaries of some of them, with their names."""
        for name, span in self._programs(plane):
            plan = self._read(span, hlo_buffers.read) if name in wanted else None
            if plan is not None:
                yield name, plan

    def _programs(self, plane: Plane) -> Iterator[tuple[str, Span]]:
        """Names of programs, and where they lie."""
        for key, span in plane.event_metadata.items():
            for number, value in fields(self._data, *span):
                if number != _METADATA_STATS or not isinstance(value, tuple):
                    continue
                name, content = self._stat(plane, value)
                if name.lower().replace(" ", "_") == _PROGRAM and isinstance(content, tuple):
                    yield plane.names.get(key, ""), content

    def _read(self, span: Span, read: Callable[[bytes], _Read]) -> _Read:
        try:
            return read(bytes(self._data[span[0] : span[1]]))
        except WireError as error:
            raise WireError(str(error), span[0] + error.offset) from error

    def line(self, span: Span) -> Line:
        """The head of a line: what stands before its events."""
        number, name, timestamp_ns = 0, "", 0
        at, end = span
        while at < end and self._data[at] != _EVENT_TAG:
            here = at
            key, value, at = field_at(self._data, at, end)
            if key not in (1, 2, 3):
                continue
            if isinstance(value, tuple) != (key == 2):
                raise WireError("a line whose head is of unknown kind", here)
            if isinstance(value, tuple):
                name = self._text(value)
            elif key == 1:
                number = signed(value)
            else:
                timestamp_ns = signed(value)
        if abs(timestamp_ns) >= 2**62:
            raise WireError("a line at an impossible time", span[0])
        return Line(number, name, timestamp_ns, at, end)

    def pieces(self, line: Line) -> Iterator[Piece]:
        """The bytes of a line's events, some MB at a time."""
        at, end = line.first, line.end
        while at < end and self._data[at] == _EVENT_TAG:
            stop = min(end, at + PIECE_BYTES)
            data = np.frombuffer(self._data, np.uint8, stop - at, at).copy()
            try:
                begins = _begins(data.tobytes(), is_last=stop == end)
            except WireError as error:
                raise WireError(str(error), at + error.offset) from error
            yield Piece(data, begins, at)
            at += int(begins[-1])
        for number, _ in fields(self._data, at, end):  # what may follow: a duration and a name for display
            if number == 4:
                raise WireError("events of a line in two places", at)


def chosen(
    piece: Piece, names: Integers, numbers: Collection[int], references: Collection[int]
) -> tuple[xlines.Events, dict[int, Integers]] | None:
    """The events of a piece with these names, and their stats as `xlines.stat_values` has them; None: there are none.

    Raises:
        WireError: An event is written in an unusual order.
    """
    try:
        heads = xlines.heads(piece.data, piece.begins)
        keep = np.isin(heads.metadata, names)
        if not keep.any():
            return None
        events = xlines.decode(piece.data, heads, keep)
        return events, xlines.stat_values(piece.data, events, numbers, references)
    except xlines.IrregularError as error:
        raise WireError("an event that is written in an unusual order", piece.at) from error


def _begins(raw: bytes, *, is_last: bool) -> Integers:
    """Where the events of a piece begin, and behind the last whole one.

    The chain of lengths can only be followed one by one: this loop is all that is done for each event.
    """
    found, size = _hurried(raw), len(raw)
    i = found[-1]
    add = found.append
    while i < size and raw[i] == _EVENT_TAG:
        if i + 6 >= size and not is_last:
            break
        length, j = varint(raw, i + 1, size)
        i = j + length
        if i > size:
            break
        add(i)
    if len(found) == 1 or (i > size and is_last):
        raise WireError("an event that is longer than its line", found[-1])
    return np.frombuffer(found, np.int64)


def _hurried(raw: bytes) -> array[int]:
    """The same for most of a piece: up to where an event could reach over its end, or is longer than any is."""
    found, i, limit = array("q", [0]), 0, len(raw) - _EVENT_BYTES
    add = found.append
    while i < limit and raw[i] == _EVENT_TAG:
        length = raw[i + 1]
        if length < 0x80:
            i += length + 2
        elif (more := raw[i + 2]) < 0x80:
            i += length + (more << 7) - 0x7D
        else:
            break
        add(i)
    return found


def _span(value: int | Span) -> Span:
    """The place of a field that must hold bytes."""
    if isinstance(value, tuple):
        return value
    raise WireError("a number where a message or a text was to be", 0)
