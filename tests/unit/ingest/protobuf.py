"""Messages of protocol buffers, written by hand."""

from __future__ import annotations


def varint(value: int) -> bytes:
    """A number."""
    value %= 1 << 64
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(key: int, value: int) -> bytes:
    """A field that holds a number."""
    return varint(key << 3) + varint(value)


def field(key: int, content: bytes) -> bytes:
    """A field that holds bytes, a text or a message."""
    return varint(key << 3 | 2) + varint(len(content)) + content
