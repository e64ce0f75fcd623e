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
    parts = [field(1, name), field(2, opcode), field(7, field(2, path) + field(3, b"/a.py")), field(35, number)]
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
    assert program["fusion.2"].inside == (("jit(f)/dense_1/dot_general", "dot"),)
    assert (program["fusion.2"].operands, program["fusion.2"].number, program["fusion.2"].computation) == (
        (11, 300),
        12,
        8,
    )
    assert (program["dot.1"].op_name, program["dot.1"].source_file) == ("jit(f)/dense_1/dot_general", "/a.py")


def test_damaged_bytes_are_one_error() -> None:
    """With the place."""
    with pytest.raises(WireError) as caught:
        hlo.read(PROGRAM[:-3])

    assert caught.value.offset == 0
