"""The wire format of protocol buffers."""

from __future__ import annotations

import struct

import pytest

from dlprof.export import protobuf


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (-1, "ffffffffffffffffff01"),
        (2**64 - 1, "ffffffffffffffffff01"),
    ],
)
def test_numbers_are_written_seven_bits_to_a_byte(value: int, expected: str) -> None:
    """As protocol buffers have them."""
    assert protobuf.varint(value).hex() == expected


def test_fields_begin_with_their_number_and_kind() -> None:
    """The examples of the format's own description, and the other kinds."""
    assert protobuf.integer(1, 150).hex() == "089601"
    assert protobuf.text(2, "testing").hex() == "120774657374696e67"
    assert protobuf.message(3, protobuf.integer(1, 150)).hex() == "1a03089601"
    assert protobuf.packed(6, [3, 270, 86942]).hex() == "3206038e029ea705"
    assert protobuf.double(1, 1.0) == b"\x09" + struct.pack("<d", 1.0)
    assert protobuf.single(1, 1e300) == b"\x0d" + struct.pack("<f", float("inf"))


def test_texts_that_are_no_unicode_are_written_all_the_same() -> None:
    """Such are names of files in Python; what they lack becomes a question mark."""
    assert protobuf.text(1, "a\udc80") == b"\n\x02a?"
