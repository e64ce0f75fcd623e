"""Event files of TensorBoard: events as protocol buffers, in the record format of TensorFlow (TFRecord)."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import BinaryIO

from dlprof.export.protobuf import blob, double, integer, message, single, text

_POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), bits turned around
_MASK = 0xA282EAD8
_STRING = 7  # DataType DT_STRING
_TENSORS = 2  # DataClass


def _table() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


_CRC = _table()


def masked_crc32c(data: bytes) -> int:
    """The checksum of a record: CRC-32C, rotated, plus a constant."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _CRC[(value ^ byte) & 0xFF] ^ value >> 8
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + _MASK) & 0xFFFFFFFF


class EventWriter:
    """Writes events.

    Args:
        out: Where to.
        wall_s: Seconds since 1970 of the first event, which names the format.
    """

    def __init__(self, out: BinaryIO, wall_s: float) -> None:
        self._out = out
        self._record(double(1, wall_s) + text(3, "brain.Event:2"))

    def scalars(self, wall_s: float, step: int, values: Iterable[tuple[str, float]]) -> None:
        """Add values of one moment: (tag, value) of each; they are kept as 32-bit floats."""
        self._event(wall_s, step, *[message(1, text(1, name), single(2, value)) for name, value in values])

    def markdown(self, wall_s: float, name: str, content: str) -> None:
        """Add a text in Markdown."""
        tensor = message(8, integer(1, _STRING), message(2), text(8, content))
        metadata = message(9, message(1, text(1, "text"), blob(2, b"")), integer(4, _TENSORS))
        self._event(wall_s, 0, message(1, text(1, name), tensor, metadata))

    def _event(self, wall_s: float, step: int, *values: bytes) -> None:
        self._record(double(1, wall_s) + integer(2, step) + message(5, *values))

    def _record(self, data: bytes) -> None:
        length = struct.pack("<Q", len(data))
        self._out.write(length + struct.pack("<I", masked_crc32c(length)))
        self._out.write(data + struct.pack("<I", masked_crc32c(data)))
