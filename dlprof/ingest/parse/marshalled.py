"""Reads Python's marshal format as far as tables of numbers need it: Python's own reader trusts its input.

Known are texts, numbers, tuples and dictionaries; code and all else is refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from dlprof.ingest.limits import budget

_SHARED = 0x80
"""Beside the sort of a value: later ones may refer to it."""
_DEPTH_AT_MOST = 8
_DIGIT_BITS = 15
_NULL = object()
"""The end of a dictionary."""


class MarshalError(Exception):
    """The bytes are no such table.

    Args:
        message: What is wrong.
        offset: Where.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def load(data: bytes) -> Any:
    """The value that some bytes hold.

    Raises:
        MarshalError: They are damaged, or hold something else than texts, numbers, tuples and dictionaries.
    """
    return _Reading(data).value(0)


class _Reading:
    """The bytes, and what of them was read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._shared: list[Any] = []
        self._interned: list[str] = []
        self._simple: Mapping[str, Callable[[], Any]] = {
            "N": lambda: None,
            "T": lambda: True,
            "F": lambda: False,
            "i": lambda: self._unpacked("<i"),
            "I": lambda: self._unpacked("<q"),
            "l": self._long,
            "g": lambda: self._unpacked("<d"),
            "f": lambda: float(self._bytes(self._size("<B"))),
            "z": lambda: self._text("<B"),
            "Z": lambda: self._text("<B"),
            "a": lambda: self._text("<I"),
            "A": lambda: self._text("<I"),
            "u": lambda: self._text("<I"),
            "s": lambda: self._text("<I"),
            "t": self._interned_text,
            "R": lambda: self._known(self._interned, self._size("<I")),
            "r": lambda: self._known(self._shared, self._size("<I")),
            "0": lambda: _NULL,
        }

    def value(self, depth: int) -> Any:
        """The next value."""
        begin, byte = self._at, self._size("<B")
        sort = chr(byte & ~_SHARED)
        is_shared, place = bool(byte & _SHARED), len(self._shared)
        if is_shared:  # what is inside of it is numbered after it
            self._shared.append(_NULL)
        if depth > _DEPTH_AT_MOST:
            raise MarshalError("nested too deeply", begin)
        if sort in self._simple:
            found = self._simple[sort]()
        elif sort in (")", "("):
            found = self._tuple(self._size("<B" if sort == ")" else "<I"), depth)
        elif sort == "{":
            found = self._dictionary(depth)
        else:
            raise MarshalError(f"a value of sort {sort!r}", begin)
        budget().hold_texts(1, 0, "values")
        if is_shared:
            self._shared[place] = found
        return found

    def _tuple(self, count: int, depth: int) -> tuple[Any, ...]:
        if count > len(self._data) - self._at:
            raise MarshalError("a tuple that is longer than the file", self._at)
        return tuple(self._inner(depth) for _ in range(count))

    def _inner(self, depth: int) -> Any:
        begin, found = self._at, self.value(depth + 1)
        if found is _NULL:
            raise MarshalError("an end where a value was to be", begin)
        return found

    def _dictionary(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while (key := self.value(depth + 1)) is not _NULL:
            begin, value = self._at, self._inner(depth)
            try:
                found[key] = value
            except TypeError as error:
                raise MarshalError("a key that is a dictionary", begin) from error
        return found

    def _bytes(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise MarshalError("it ends in the middle", len(self._data))
        found, self._at = self._data[self._at : end], end
        return found

    def _unpacked(self, form: str) -> Any:
        return struct.unpack(form, self._bytes(struct.calcsize(form)))[0]

    def _size(self, form: str) -> int:
        return int(self._unpacked(form))

    def _text(self, form: str) -> str:
        size = self._size(form)
        budget().hold_texts(0, size, "texts")
        return self._bytes(size).decode("utf-8", "replace")

    def _interned_text(self) -> str:
        self._interned.append(self._text("<I"))
        return self._interned[-1]

    def _known(self, values: list[Any], number: int) -> Any:
        if number >= len(values) or values[number] is _NULL:
            raise MarshalError(f"value {number} is referred to before it is there", self._at)
        return values[number]

    def _long(self) -> int:
        count = self._unpacked("<i")
        begin, digits = self._at, [self._size("<H") for _ in range(min(abs(count), 8))]
        if abs(count) > len(digits):
            raise MarshalError("a number beyond all counts", begin)
        found = sum(digit << (_DIGIT_BITS * place) for place, digit in enumerate(digits))
        return -found if count < 0 else found
