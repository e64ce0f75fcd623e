"""Columns of numbers and JSON as one compressed text that a page carries and its script unpacks.

    base64(gzip(length of the header, 4 bytes little-endian | header, JSON | columns))

The header says of each column where it begins behind the header, how many values it has, and how they are written:
`u` unsigned LEB128, `d` the same of differences to the value before, `f` 32-bit floats (NaN: not measured).
"""

from __future__ import annotations

import base64
import gzip
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.report import strict_json

_LEVEL = 6
"""Of compression: 9 takes three times as long for 2 % less."""


class Pack:
    """Takes columns and gives each a number, by which the header's content refers to it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._columns: list[tuple[int, int, str]] = []
        self._size = 0

    def unsigned(self, values: npt.ArrayLike) -> int:
        """Keep whole numbers from 0 on."""
        return self._add(_leb128(np.asarray(values, np.uint64)), len(np.asarray(values)), "u")

    def rising(self, values: npt.ArrayLike) -> int:
        """Keep whole numbers from 0 on of which none is below the one before."""
        numbers = np.asarray(values, np.int64)
        return self._add(_leb128(np.diff(numbers, prepend=0).astype(np.uint64)), len(numbers), "d")

    def floats(self, values: npt.ArrayLike) -> int:
        """Keep numbers to seven digits."""
        numbers = np.asarray(values, "<f4")
        return self._add(numbers.tobytes(), len(numbers), "f")

    def _add(self, part: bytes, count: int, kind: str) -> int:
        self._columns.append((self._size, count, kind))
        self._parts.append(part)
        self._size += len(part)
        return len(self._columns) - 1

    def text(self, content: dict[str, Any]) -> str:
        """All columns and some JSON as one text."""
        header = strict_json.dumps({"columns": self._columns, **content}, separators=(",", ":")).encode()
        whole = b"".join([len(header).to_bytes(4, "little"), header, *self._parts])
        return compressed(whole)


def compressed(content: bytes) -> str:
    """Base64 of gzip, without a time stamp: equal content is equal text."""
    return base64.b64encode(gzip.compress(content, _LEVEL, mtime=0)).decode()


def _leb128(values: npt.NDArray[np.uint64]) -> bytes:
    """Each number in groups of seven bits, the lowest first, all but the last with the eighth bit set."""
    length = np.ones(len(values), np.int64)
    rest = values >> np.uint64(7)
    while rest.any():
        length += rest > 0
        rest >>= np.uint64(7)
    place = np.cumsum(length) - length
    written = np.zeros(int(length.sum()), np.uint8)
    active, number = np.arange(len(values)), 0
    left = values.copy()
    while len(active):
        goes_on = length[active] > number + 1
        written[place[active] + number] = (left[active] & np.uint64(127)).astype(np.uint8) | (goes_on * np.uint8(128))
        left >>= np.uint64(7)
        active, number = active[goes_on], number + 1
    return written.tobytes()
