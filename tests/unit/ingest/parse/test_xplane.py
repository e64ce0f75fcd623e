"""Where the events of a line lie."""

from __future__ import annotations

import pytest

from dlprof.ingest.parse.protowire import WireError
from dlprof.ingest.parse.xplane import Line, SpaceBytes
from tests.unit.ingest.protobuf import field, number

SHORT = field(4, number(1, 5))
LENGTHS = [2, 127, 128, 300, 2**14 - 1, 2**14, 70_000]


def begins(content: bytes, end: int | None = None) -> list[int]:
    """Where the events of a line begin in its bytes, and where the last one ends."""
    line = Line(1, "main", 0, 0, len(content) if end is None else end)
    found = [0]
    for piece in SpaceBytes(content).pieces(line):
        assert piece.at == found[-1]
        found += [piece.at + at for at in piece.begins.tolist()[1:]]
    return found


@pytest.mark.parametrize("length", LENGTHS)
def test_events_of_any_length_are_found(length: int) -> None:
    """Between many short ones, whatever number of bytes tells their length."""
    long = field(4, number(1, 5) + b"\x00" * (length - 2))
    events = [*[SHORT] * 9_000, long, *[SHORT] * 9_000, long]

    expected = [0]
    for event in events:
        expected.append(expected[-1] + len(event))

    assert begins(b"".join(events)) == expected


def test_an_event_that_is_longer_than_its_line_is_refused() -> None:
    """With the place at which it stands."""
    content = SHORT * 20_000 + field(4, b"x" * 50)[:-1]

    with pytest.raises(WireError, match="an event that is longer than its line") as error:
        begins(content)
    assert error.value.offset == 20_000 * len(SHORT)


def test_bytes_behind_the_events_are_no_events() -> None:
    """A line may end with its duration and a name."""
    assert begins(SHORT * 3 + number(9, 7) + field(11, b"name"))[-1] == 3 * len(SHORT)
