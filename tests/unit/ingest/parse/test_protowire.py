"""The wire format of protocol buffers, over bytes that may lie."""

from __future__ import annotations

import pytest

from dlprof.ingest.parse.protowire import WireError, fields, signed


def test_fields_are_numbers_or_the_places_of_bytes() -> None:
    """A varint, a text, and a fixed 32-bit number."""
    data = b"\x08\xac\x02" + b"\x12\x02hi" + b"\x1d\x01\x02\x03\x04"

    assert list(fields(data, 0, len(data))) == [(1, 300), (2, (5, 7)), (3, (8, 12))]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x08" + b"\xff" * 12, "a number that does not end"),
        (b"\x12\x7fhi", "a field of 127 bytes where 2 are left"),
        (b"\x00\x01", "a field without a number"),
        (b"\x0b", "unknown kind 3"),
    ],
)
def test_bytes_that_lie_are_one_error(data: bytes, words: str) -> None:
    """Whatever they promise."""
    with pytest.raises(WireError, match=words):
        list(fields(data, 0, len(data)))


def test_a_negative_number_is_a_large_varint() -> None:
    """Of 64 bits."""
    assert (signed(2**64 - 1), signed(5)) == (-1, 5)
