"""Which process launched what ran on a device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dlprof.ingest.kernels import launchers
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import EventKind

OPERATOR, CALL, KERNEL, RANGE = EventKind.OPERATOR, EventKind.RUNTIME, EventKind.KERNEL, EventKind.ANNOTATION
_Row = tuple[EventKind, int, int]
"""Kind, begin and link of an event."""


def _owners(lanes: Sequence[tuple[str, int, Sequence[_Row]]]) -> list[str | None]:
    """Whose each lane is; a lane has a name of its process, a device and events."""
    trace = Trace(Path("t.json"), "kineto", "torch")
    for at, (name, device, events) in enumerate(lanes):
        lane = trace.lane(at, Lane(0, at, name, device))
        number = trace.names.number("f")
        trace.add_rows([EventRow(kind, number, begin, 1, lane, device, link) for kind, begin, link in events])
    return launchers.of_lanes(trace, [name for name, _, _ in lanes])


def _host(name: str, *calls: tuple[int, int]) -> tuple[str, int, Sequence[_Row]]:
    return name, CPU, [(OPERATOR, 0, NONE), *((CALL, begin, link) for begin, link in calls)]


def _device(name: str, *kernels: tuple[int, int], number: int = 0) -> tuple[str, int, Sequence[_Row]]:
    return name, number, [(KERNEL, begin, link) for begin, link in kernels]


def test_a_label_tells_whose_a_device_is() -> None:
    """As put before the numbers of processes by programs that merge traces."""
    lanes = [_host("[TP00] 41"), _device("[TP00] 0"), _host("[TP01] 42"), _device("[TP01] 0")]

    assert _owners(lanes) == ["[TP00] 41", "[TP00] 41", "[TP01] 42", "[TP01] 42"]


def test_calls_tell_whose_a_device_is_where_their_numbers_differ() -> None:
    """A kernel has that of the call that launched it."""
    lanes = [_host("41", (1, 5), (2, 6)), _host("42", (1, 7)), _device("0", (3, 5), (4, 6)), _device("1", (9, 7))]

    assert _owners(lanes) == ["41", "42", "41", "42"]


def test_a_kernel_began_after_its_call() -> None:
    """So that calls of the same numbers in a process that was later are not its."""
    lanes = [_host("41", (1, 5), (2, 6)), _host("42", (101, 5), (102, 6)), _device("0", (3, 5), (4, 6))]

    assert _owners(lanes) == ["41", "42", "41"]


def test_where_two_processes_may_have_launched_a_kernel_nobody_is_named() -> None:
    """Their calls have the same numbers, and both came before it."""
    lanes = [_host("41", (1, 5)), _host("42", (2, 5)), _device("0", (9, 5)), _device("1")]

    assert _owners(lanes) == ["41", "42", None, None]


def test_traces_that_stand_one_behind_the_other_tell_it() -> None:
    """Each with its device: calls of both have the same numbers there, and those of the first came before all."""
    lanes = [_host("41", (1, 5)), _device("0", (8, 5)), _host("42", (2, 5)), _device("1", (9, 5))]

    assert _owners(lanes) == ["41", "41", "42", "42"]


def test_places_tell_nothing_where_a_device_stands_in_both_traces() -> None:
    """As in files of ranks that each called their device 0."""
    lanes = [_host("41", (1, 5)), _device("0", (8, 5)), _host("42", (2, 5)), _device("0", (9, 5))]

    assert _owners(lanes) == ["41", None, "42", None]


def test_what_shows_ranges_or_calls_alone_is_no_process() -> None:
    """Some tracers number these otherwise than operators."""
    lanes = [_host("41"), ("7", CPU, [(RANGE, 0, NONE)]), ("8", CPU, [(CALL, 0, 5)]), _device("0", (3, 5))]

    assert _owners(lanes) == ["41"] * 4
