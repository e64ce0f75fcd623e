"""Marks of ends in an XSpace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.ingest.formats.samples import put
from tests.unit.ingest.imports import imported, rows
from tests.unit.ingest.protobuf import field, number

_HLO_OP, _OPERATION, _MARKED = 1, 2, 3
_STATS = {_HLO_OP: "hlo_op", _OPERATION: "_p", _MARKED: "_c"}
_TEXTS = 100
"""Stats from here on are texts that others refer to."""


@dataclass(frozen=True)
class Event:
    """An event of a host: name, start and duration (us), and the number of an operation or of what is marked."""

    name: str
    start: int
    dur: int
    operation: int | None = None
    marked: int | None = None


def host(*lines: list[Event]) -> bytes:
    """A host with these threads; events with the number of an operation are instructions of XLA."""
    names = sorted({event.name for line in lines for event in line})
    plane = field(2, b"/host:CPU")
    for at, line in enumerate(lines):
        events = b"".join(field(4, _event(event, names)) for event in line)
        plane += field(3, number(1, at) + field(2, f"thread {at}".encode()) + events)
    for at, name in enumerate(names, 1):
        plane += field(4, number(1, at) + field(2, number(1, at) + field(2, name.encode())))
    stats = _STATS | {_TEXTS + at: name for at, name in enumerate(names, 1)}
    for at, name in stats.items():
        plane += field(5, number(1, at) + field(2, number(1, at) + field(2, name.encode())))
    return field(1, plane)


def _event(event: Event, names: list[str]) -> bytes:
    at = names.index(event.name) + 1
    told = number(1, at) + number(2, 1_000_000 * event.start) + number(3, 1_000_000 * event.dur)
    if event.operation is not None:
        told += field(4, number(1, _HLO_OP) + number(7, _TEXTS + at))
        told += field(4, number(1, _OPERATION) + number(4, event.operation))
    if event.marked is not None:
        told += field(4, number(1, _MARKED) + number(4, event.marked))
    return told


def operators(folder: Path, *lines: list[Event]) -> list[tuple[str, str, int]]:
    """Name, lane and duration (us) of the operators of a host, in order of start."""
    run = imported(folder, put(folder, host(*lines), "t.xplane.pb"))
    return rows(run, "SELECT name, lane, dur_ns // 1000 FROM kernels WHERE kind = 'operator' ORDER BY start_ns")


def test_an_operation_lasts_until_its_mark_on_whatever_thread(tmp_path: Path) -> None:
    """The second execution has no mark, for the trace was over."""
    convolution = [Event("convolution.1", 0, 10, operation=7), Event("convolution.1", 200, 10, operation=8)]
    mark = [Event("end: convolution.1", 117, 0, marked=7)]

    assert operators(tmp_path, convolution, mark) == [
        ("convolution.1", "asynchronous 0", 117),
        ("convolution.1", "thread 0", 10),
    ]


def test_one_whose_last_part_waited_for_its_thread_began_so_much_later(tmp_path: Path) -> None:
    """The thread on which it ended was within a sort for 100 of 117 us."""
    add = [Event("add.1", 0, 1, operation=7)]
    sort = [Event("sort.2", 5, 100, operation=8), Event("end: add.1", 117, 0, marked=7)]

    assert operators(tmp_path, add, sort) == [("sort.2", "thread 1", 100), ("add.1", "asynchronous 0", 17)]


def test_an_operation_that_ends_with_its_call_stays_on_its_thread(tmp_path: Path) -> None:
    """Each has a mark: most of them just before the call is over."""
    thread = [Event("dot.3", 0, 10, operation=7), Event("end: dot.3", 9, 0, marked=7)]

    assert operators(tmp_path, thread) == [("dot.3", "thread 0", 10)]


@pytest.mark.parametrize("name", ["while.2", "call", "conditional.1"])
def test_what_holds_other_operations_is_not_made_longer(name: str, tmp_path: Path) -> None:
    """The operations in it have marks of their own, and would be counted twice."""
    thread = [Event(name, 0, 10, operation=7), Event(f"end: {name}", 90, 0, marked=7)]

    assert operators(tmp_path, thread) == [(name, "thread 0", 10)]


def test_a_mark_of_another_number_ends_nothing(tmp_path: Path) -> None:
    """Numbers tell which execution it is: names are those of all of them."""
    thread = [Event("dot.3", 0, 10, operation=7), Event("end: dot.3", 90, 0, marked=6)]

    assert operators(tmp_path, thread) == [("dot.3", "thread 0", 10)]
