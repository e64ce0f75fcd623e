"""The wire format of protocol buffers, as far as XSpace files need it, over bytes that may lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Span = tuple[int, int]
"""First and last-but-one position of a field's bytes."""


class WireError(Exception):
    """Bytes that are no protocol buffer.

    Attributes:
        offset: Where.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def varint(data: Any, at: int, end: int) -> tuple[int, int]:
    """The number at `at`, and where it ends.

    Raises:
        WireError: It does not end before `end`.
    """
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            break
    raise WireError("a number that does not end", at)


def field(data: Any, at: int, end: int) -> tuple[int, int | Span, int]:
    """The field at `at`: its number, its value (bytes as their place), and where it ends.

    Raises:
        WireError: It is damaged.
    """
    here = at
    tag, at = varint(data, at, end)
    number, kind = tag >> 3, tag & 7
    if number == 0:
        raise WireError("a field without a number", here)
    if kind == 0:
        value, at = varint(data, at, end)
        return number, value, at
    if kind == 2:
        length, at = varint(data, at, end)
    elif kind in (1, 5):
        length = 8 if kind == 1 else 4
    else:
        raise WireError(f"a field of unknown kind {kind}", here)
    if length > end - at:
        raise WireError(f"a field of {length} bytes where {end - at} are left", here)
    return number, (at, at + length), at + length


def fields(data: Any, at: int, end: int) -> Iterator[tuple[int, int | Span]]:
    """The fields of a message: (number, value).

    Raises:
        WireError: The message is damaged.
    """
    while at < end:
        number, value, at = field(data, at, end)
        yield number, value


def signed(value: int) -> int:
    """A varint as a signed 64-bit number."""
    return value - 2**64 if value >= 2**63 else value
