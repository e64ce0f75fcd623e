"""Programs that XLA compiled, from bytes put together here."""

from __future__ import annotations

import pytest

from dlprof.ingest.parse import hlo
from dlprof.ingest.parse.protowire import WireError


def varint(value: int) -> bytes:
    """A number of the wire format."""
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(number: int, value: bytes | int) -> bytes:
    """A field of the wire format."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def instruction(
    name: bytes, opcode: bytes, number: int, *, operands: bytes = b"", called: int = 0, path: bytes = b""
) -> bytes:
    """A field of a computation."""
    parts = [
        field(1, name),
        field(2, opcode),
        field(7, field(2, path) + field(3, b"/a.py") + field(4, 33)),
        field(35, number),
    ]
    return field(2, b"".join([*parts, field(36, operands), *([field(38, called)] if called else [])]))


PROGRAM = field(
    1,
    b"".join(
        [
            field(1, b"jit_f"),
            field(3, instruction(b"dot.1", b"dot", 11, path=b"jit(f)/dense_1/dot_general") + field(5, 7)),
            field(
                3, instruction(b"fusion.2", b"fusion", 12, operands=varint(11) + varint(300), called=7) + field(5, 8)
            ),
        ]
    ),
)


def test_instructions_are_read_with_what_was_fused_into_them() -> None:
    """By the number of the computation that they call."""
    name, program = hlo.read(PROGRAM)

    assert (name, sorted(program)) == ("jit_f", ["dot.1", "fusion.2"])
    assert program["fusion.2"].inside == (
        ("jit(f)/dense_1/dot_general", "dot", program["fusion.2"].inside[0].frame, 1),
    )
    assert (program["fusion.2"].operands, program["fusion.2"].number, program["fusion.2"].computation) == (
        (11, 300),
        12,
        8,
    )
    assert program["dot.1"].op_name == "jit(f)/dense_1/dot_general"


def places(program: hlo.Program, name: str) -> list[tuple[str, int]]:
    """File and line of an instruction's frame, and of those around it."""
    frame = program[name].frame
    return [] if frame is None else [(one.file, one.line) for one in frame.outwards()]


def framed(*frames: bytes, of: int) -> hlo.Program:
    """A program of one product that was made by a frame of these, in /a.py or /b.py."""
    index = b"".join(
        [field(1, b"/a.py"), field(1, b"/b.py"), *(field(3, field(1, n) + field(3, 10 * n)) for n in (1, 2)), *frames]
    )
    product = field(
        2, field(1, b"dot.1") + field(2, b"dot") + field(7, field(2, b"jit(f)/dot_general") + field(15, of))
    )
    return hlo.read(field(1, field(1, b"jit_f") + field(3, product + field(5, 7)) + field(17, index)))[1]


@pytest.mark.parametrize("number", [50, 61])
def test_groups_of_a_convolution_are_read(number: int) -> None:
    """Of its channels, or of its batch."""
    made = instruction(b"convolution.1", b"convolution", 1)
    body = made[2:] + field(number, 5)  # a message without its head
    assert len(made[2:]) < 128

    _, program = hlo.read(field(1, field(1, b"f") + field(3, field(2, body) + field(5, 7))))

    assert program["convolution.1"].groups == 5


def test_an_instruction_has_the_lines_that_made_it_from_the_inside() -> None:
    """Frames are numbered from 1 on, and name the one around them."""
    program = framed(field(4, field(1, 1)), field(4, field(1, 2) + field(2, 1)), of=2)

    assert places(program, "dot.1") == [("/b.py", 20), ("/a.py", 10)]


def test_older_programs_have_one_line_written_out() -> None:
    """File and line stand at the instruction."""
    assert places(hlo.read(PROGRAM)[1], "dot.1") == [("/a.py", 33)]


@pytest.mark.parametrize(
    ("frames", "of", "expected"),
    [
        ([field(4, field(1, 1) + field(2, 1))], 1, [("/a.py", 10)]),
        ([field(4, field(1, 1) + field(2, 2)), field(4, field(1, 2) + field(2, 1))], 1, [("/a.py", 10)]),
        ([field(4, field(1, 99))], 1, [("", 0)]),
        ([field(4, field(1, 1))], 7, []),
    ],
)
def test_frames_that_call_themselves_or_are_not_there_end_the_stack(
    frames: list[bytes], of: int, expected: list[tuple[str, int]]
) -> None:
    """A file may say anything."""
    assert places(framed(*frames, of=of), "dot.1") == expected


def test_damaged_bytes_are_one_error() -> None:
    """With the place."""
    with pytest.raises(WireError) as caught:
        hlo.read(PROGRAM[:-3])

    assert caught.value.offset == 0
