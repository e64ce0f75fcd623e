"""The wire format of protocol buffers, written: each function returns the bytes of one field."""

from __future__ import annotations

import struct
from collections.abc import Iterable

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_ALL_64 = (1 << 64) - 1


def varint(value: int) -> bytes:
    """A number, seven bits to a byte; a negative one as its 64-bit complement."""
    value &= _ALL_64
    if value < 0x80:
        return bytes((value,))
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def tag(number: int, kind: int = _VARINT) -> bytes:
    """What stands before a field: its number, and how its value is written."""
    return varint(number << 3 | kind)


def integer(number: int, value: int) -> bytes:
    """An int32, int64, uint32, uint64, enum or bool."""
    return tag(number) + varint(value)


def double(number: int, value: float) -> bytes:
    """A double."""
    return tag(number, _FIXED64) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    """A float; what is beyond its range is infinite."""
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return tag(number, _FIXED32) + packed


def blob(number: int, value: bytes) -> bytes:
    """Bytes, or a message that is within another."""
    return tag(number, _BYTES) + varint(len(value)) + value


def message(number: int, *fields: bytes) -> bytes:
    """A message within another, out of its fields."""
    return blob(number, b"".join(fields))


def text(number: int, value: str) -> bytes:
    """A string; what UTF-8 cannot hold (parts of file names that are no text) becomes a question mark."""
    return blob(number, value.encode("utf-8", "replace"))


def packed(number: int, values: Iterable[int]) -> bytes:
    """Repeated integers in one field."""
    return blob(number, b"".join(varint(value) for value in values))
