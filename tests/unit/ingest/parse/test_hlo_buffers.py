"""What XLA planned for temporaries, from bytes put together here."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dlprof.ingest.parse import hlo_buffers
from dlprof.ingest.parse.hlo_buffers import Plan
from dlprof.ingest.parse.protowire import WireError
from tests.unit.ingest.protobuf import field, number

COMES, GOES, SHARES = 0, 1, 2
RESULT, PARAMETER = 7, 5
Event = tuple[int, int, str, int]
"""Kind, buffer, instruction, the buffer whose room it has."""


def buffer(name: int, size: int) -> bytes:
    """A buffer of so many bytes."""
    return field(1, number(1, name) + number(2, size))


def allocation(size: int, *flags: int, of: Sequence[int] = ()) -> bytes:
    """Room for some buffers: temporaries, or something else."""
    assigned = b"".join(field(9, number(1, name)) for name in of)
    return field(3, number(2, size) + b"".join(number(flag, 1) for flag in flags) + assigned)


def trace(*events: Event) -> bytes:
    """The simulation of a program, with the number of an allocation that is no longer so."""
    made = b"".join(
        field(1, number(1, kind) + number(2, name) + field(4, op.encode()) + number(5, shared))
        for kind, name, op, shared in events
    )
    return field(4, made + number(3, 39))


def plan(*parts: bytes) -> Plan | None:
    """The plan of a program."""
    return hlo_buffers.read(field(1, b"") + field(3, b"".join(parts)))


def test_what_is_there_at_the_peak_is_told_by_instruction() -> None:
    """Of a, b and c, of 100, 40 and 70 bytes, b and c are there at once when a has gone; 200 bytes are planned."""
    events = [
        (COMES, 1, "a", 0), (COMES, 2, "b", 0), (GOES, 1, "b", 0), (COMES, 3, "c", 0), (COMES, 4, "b", 0),
        (GOES, 2, "c", 0),
    ]  # fmt: skip

    found = plan(
        buffer(1, 100), buffer(2, 40), buffer(3, 70), buffer(4, 40), allocation(200, of=(1, 2, 3, 4)), trace(*events)
    )

    assert found == Plan(200, {"b": (80, 2), "c": (70, 1)})


def test_room_that_is_shared_goes_with_its_last_user() -> None:
    """The result of b is made in place, in the room of a."""
    events = [(COMES, 1, "a", 0), (SHARES, 2, "b", 1), (GOES, 1, "b", 0), (COMES, 3, "c", 0), (GOES, 2, "c", 0)]

    found = plan(buffer(1, 100), buffer(2, 100), buffer(3, 70), allocation(170, of=(1, 2, 3)), trace(*events))

    assert found == Plan(170, {"a": (100, 1), "c": (70, 1)})


def test_arguments_and_results_are_no_temporaries() -> None:
    """Though they are simulated, too."""
    found = plan(
        buffer(1, 100), buffer(2, 40), allocation(100, RESULT, of=(1,)), allocation(40, of=(2,)),
        allocation(900, PARAMETER), trace((COMES, 1, "a", 0)), trace((COMES, 2, "b", 0)),
    )  # fmt: skip

    assert found == Plan(40, {"b": (40, 1)})


def test_a_program_without_a_plan_has_none() -> None:
    """Nor has one without temporaries."""
    assert hlo_buffers.read(field(1, b"")) is None
    assert plan(allocation(100, RESULT)) is None


def test_damaged_bytes_are_refused() -> None:
    """With where they are."""
    with pytest.raises(WireError):
        hlo_buffers.read(field(3, b"\x0a\xff\xff\x01"))
