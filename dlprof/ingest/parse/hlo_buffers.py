"""What XLA planned for the temporaries of a program (BufferAssignmentProto), and which are there at its peak.

A plan has one allocation or more for temporaries; in each, buffers of instructions share room, one after the other. The
trace of XLA's own simulation tells when each comes and goes; the number of the allocation in it is of an earlier plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlprof.ingest.limits import budget
from dlprof.ingest.parse.protowire import Span, fields

# Numbers of the fields of HloProto and of the messages in it.
_ASSIGNMENT = 3
_BUFFERS, _ALLOCATIONS, _TRACES = 1, 3, 4
_INDEX, _SIZE, _OF_THREAD, _PARAMETER, _RESULT, _ASSIGNED, _CONSTANT = 1, 2, 3, 5, 7, 9, 12
_EVENTS = 1
_KIND, _BUFFER, _INSTRUCTION, _SHARED_WITH = 1, 2, 4, 5
_COMES, _GOES, _SHARES = 0, 1, 2
_EVENT_BYTES = 300
_NOT_TEMPORARY = (_OF_THREAD, _PARAMETER, _RESULT, _CONSTANT)


@dataclass(frozen=True)
class Plan:
    """The temporaries of a program.

    Attributes:
        bytes: Room for all of them.
        at_peak: Name of an instruction to the bytes that its results take where most are there, and how many they are;
            less than the whole where room between them is not used.
    """

    bytes: int
    at_peak: Mapping[str, tuple[int, int]]


@dataclass
class _Event:
    kind: int = 0
    buffer: int = 0
    instruction: str = ""
    shared_with: int = 0


def read(data: bytes) -> Plan | None:
    """The plan in an HloProto; None: it has none, or nothing is planned.

    Raises:
        WireError: The bytes are damaged.
    """
    sizes: dict[int, int] = {}
    temporary: set[int] = set()
    events: list[_Event] = []
    whole = 0
    for number, value in _inside(data, (0, len(data)), _ASSIGNMENT):
        if number == _BUFFERS:
            told = _numbers(data, value)
            sizes[told.get(_INDEX, 0)] = told.get(_SIZE, 0)
        elif number == _ALLOCATIONS:
            told = _numbers(data, value)
            if not any(told.get(name) for name in _NOT_TEMPORARY):
                whole += told.get(_SIZE, 0)
                temporary.update(_assigned(data, value))
        elif number == _TRACES:
            events += [_event(data, part) for inner, part in _spans(data, value) if inner == _EVENTS]
    if not whole:
        return None
    held: dict[str, tuple[int, int]] = {}
    for name, size in _at_peak(events, {one: size for one, size in sizes.items() if one in temporary}):
        before, count = held.get(name, (0, 0))
        held[name] = before + size, count + 1
    return Plan(whole, held)


def _inside(data: bytes, span: Span, wanted: int) -> Iterator[tuple[int, Span]]:
    """The messages in those of one number."""
    for number, value in _spans(data, span):
        if number == wanted:
            yield from _spans(data, value)


def _spans(data: bytes, span: Span) -> Iterator[tuple[int, Span]]:
    """The messages in one."""
    for number, value in fields(data, *span):
        if isinstance(value, tuple):
            budget().hold(_EVENT_BYTES, "plans of programs")
            yield number, value


def _numbers(data: bytes, span: Span) -> dict[int, int]:
    return {number: value for number, value in fields(data, *span) if isinstance(value, int)}


def _assigned(data: bytes, span: Span) -> Iterator[int]:
    """The buffers that have room in an allocation."""
    for number, value in _spans(data, span):
        if number == _ASSIGNED:
            yield _numbers(data, value).get(_INDEX, 0)


def _event(data: bytes, span: Span) -> _Event:
    event = _Event()
    for number, value in fields(data, *span):
        if number == _INSTRUCTION and isinstance(value, tuple):
            event.instruction = data[value[0] : value[1]].decode("utf-8", "replace")
        elif isinstance(value, int) and number == _KIND:
            event.kind = value
        elif isinstance(value, int) and number == _BUFFER:
            event.buffer = value
        elif isinstance(value, int) and number == _SHARED_WITH:
            event.shared_with = value
    return event


class _Simulation:
    """What is there while the events of a plan go by; a buffer that is shared goes with its last user."""

    def __init__(self, sizes: Mapping[int, int]) -> None:
        self._sizes = sizes
        self._room: dict[int, int] = {}  # buffer: the one whose room it has
        self._users: dict[int, int] = {}
        self.there: dict[int, tuple[str, int]] = {}
        self.bytes = 0

    def take(self, event: _Event) -> None:
        """One event more."""
        if event.kind == _GOES:
            self._go(self._room.get(event.buffer, event.buffer))
            return
        owner = event.shared_with if event.kind == _SHARES else event.buffer
        self._room[event.buffer] = owner = self._room.get(owner, owner)
        self._users[owner] = self._users.get(owner, 0) + 1
        size = self._sizes.get(owner, 0)
        if event.kind == _COMES and size and owner not in self.there:
            self.there[owner] = event.instruction, size
            self.bytes += size

    def _go(self, owner: int) -> None:
        self._users[owner] = self._users.get(owner, 0) - 1
        if self._users[owner] <= 0 and owner in self.there:
            self.bytes -= self.there.pop(owner)[1]


def _at_peak(events: Sequence[_Event], sizes: Mapping[int, int]) -> list[tuple[str, int]]:
    """Instruction and bytes of each buffer that is there where most are."""
    first, most, last = _Simulation(sizes), 0, 0
    for number, event in enumerate(events, 1):
        first.take(event)
        if first.bytes > most:
            most, last = first.bytes, number
    second = _Simulation(sizes)
    for event in events[:last]:
        second.take(event)
    return list(second.there.values())
