"""Event files of TensorBoard: events as protocol buffers, in the record format of TensorFlow (TFRecord)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from dlprof.export.protobuf import double, integer, message, single, text

_POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), bits turned around
_MASK = 0xA282EAD8
# Fields of Event, of Summary.Value and of what is in it.
_WALL_TIME, _STEP, _VERSION, _SUMMARY = 1, 2, 3, 5
_VALUE = 1
_TAG, _SCALAR, _TENSOR, _METADATA = 1, 2, 8, 9
_DATA_TYPE, _SHAPE, _TEXT = 1, 2, 8  # of TensorProto
_PLUGIN, _DATA_CLASS = 1, 4  # of SummaryMetadata
_PLUGIN_NAME = 1
_TEXTS, _TENSORS = 7, 2  # DT_STRING; DATA_CLASS_TENSOR


def _table() -> tuple[int, ...]:
    remainders = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        remainders.append(value)
    return tuple(remainders)


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
        self._record(double(_WALL_TIME, wall_s) + text(_VERSION, "brain.Event:2"))

    def scalars(self, wall_s: float, step: int, values: Iterable[tuple[str, float]]) -> None:
        """Add values of one moment: (tag, value) of each; they are kept as 32-bit floats."""
        fields = [message(_VALUE, text(_TAG, name), single(_SCALAR, value)) for name, value in values]
        self._event(wall_s, step, fields)

    def markdown(self, wall_s: float, name: str, content: str) -> None:
        """Add a text in Markdown."""
        tensor = message(_TENSOR, integer(_DATA_TYPE, _TEXTS), message(_SHAPE), text(_TEXT, content))
        metadata = message(_METADATA, message(_PLUGIN, text(_PLUGIN_NAME, "text")), integer(_DATA_CLASS, _TENSORS))
        self._event(wall_s, 0, [message(_VALUE, text(_TAG, name), tensor, metadata)])

    def _event(self, wall_s: float, step: int, values: Sequence[bytes]) -> None:
        self._record(double(_WALL_TIME, wall_s) + integer(_STEP, step) + message(_SUMMARY, *values))

    def _record(self, data: bytes) -> None:
        length = struct.pack("<Q", len(data))
        self._out.write(length + struct.pack("<I", masked_crc32c(length)))
        self._out.write(data + struct.pack("<I", masked_crc32c(data)))
