"""Event files of TensorBoard: records and their checksums."""

from __future__ import annotations

import struct
from pathlib import Path

from dlprof.export.eventfile import EventWriter, masked_crc32c


def test_checksums_are_crc32c() -> None:
    """The check value of CRC-32C is that of "123456789"; rotated and masked as TensorFlow does."""
    plain = 0xE3069283

    assert masked_crc32c(b"123456789") == ((plain >> 15 | plain << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_records_have_length_data_and_checksums(tmp_path: Path) -> None:
    """The first of an event file says its version."""
    path = tmp_path / "events"
    with path.open("wb") as out:
        EventWriter(out, 1.0)

    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    assert len(data) == 12 + length + 4
    assert struct.unpack("<I", data[8:12]) == (masked_crc32c(data[:8]),)
    assert struct.unpack("<I", data[-4:]) == (masked_crc32c(data[12:-4]),)
    assert data[12:-4].endswith(b"brain.Event:2")
