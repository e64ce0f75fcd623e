"""The records of a raw stream (`raw/inproc.wire`), read piece by piece."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.own.step_log import RECORD

_PIECE = 1 << 20
_FEW, _MANY = 8, 4096
"""Steps that are looked at together: more than so few, and up to so many."""
_HEAD = wire.HEAD.size


@dataclass(frozen=True)
class Piece:
    """Whole records of a stream that follow each other.

    Attributes:
        offset: Where the first begins in the file (bytes).
        view: Their bytes.
        kinds: Type of each.
        places: Where each begins in `view`, and behind them the end of the last.
    """

    offset: int
    view: memoryview
    kinds: list[int]
    places: list[int]

    def payload(self, number: int) -> memoryview:
        """What one of them holds."""
        return self.view[self.places[number] + _HEAD : self.places[number + 1]]

    def rows(self, numbers: npt.NDArray[np.int64], layout: np.dtype[np.void]) -> npt.NDArray[Any] | None:
        """Some of them, head and payload, as an array; None: one is not of that size."""
        places = np.array(self.places, np.int64)
        first = places[numbers]
        if not (places[numbers + 1] - first == layout.itemsize).all():
            return None
        each = np.frombuffer(self.view, np.uint8)[first[:, None] + np.arange(layout.itemsize)]
        return np.ascontiguousarray(each).view(layout).ravel()


def json_object(payload: bytes | memoryview) -> dict[str, Any]:
    """The JSON object in a record.

    Raises:
        ValueError: It is no JSON.
        TypeError: It is no object.
    """
    value = json.loads(bytes(payload))
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def text(payload: memoryview) -> str:
    """The text in a record; what is no UTF-8 is replaced."""
    return bytes(payload).decode("utf-8", "replace")


def records(path: Path) -> Iterator[tuple[int, int, memoryview]]:
    """Every whole record of a stream, in order.

    Yields:
        (offset in bytes, type, payload).

    Raises:
        ArtifactError: The file is no stream of the probe, or of a newer version.
    """
    for piece in pieces(path):
        for number, kind in enumerate(piece.kinds):
            yield piece.offset + piece.places[number], kind, piece.payload(number)


def pieces(path: Path) -> Iterator[Piece]:
    """The whole records of a stream, in order. Little of it is in memory.

    Raises:
        ArtifactError: The file is no stream of the probe, or of a newer version.
    """
    head = len(wire.MAGIC) + 1
    with safe_files.opened(path.parent, path.name) as source:
        start = source.read(head)
        if start[:-1] != wire.MAGIC:
            raise ArtifactError("not a stream of dlprof's in-process probe", path=path, offset=0)
        if start[-1] > wire.VERSION:
            raise ArtifactError(f"stream version {start[-1]} is newer than this dlprof", path=path, offset=head - 1)
        yield from _pieces(source, head, os.fstat(source.fileno()).st_size)


def _pieces(source: BinaryIO, offset: int, size: int) -> Iterator[Piece]:
    """Those from `offset` on, which the file stands at, to its size."""
    rest, wanted = b"", _PIECE
    while offset + len(rest) < size and (more := source.read(min(wanted, size - offset - len(rest)))):
        view = memoryview(rest + more)
        piece = _whole(offset, view)
        if piece.kinds:
            yield piece
        place = piece.places[-1]
        rest, offset, wanted = bytes(view[place:]), offset + place, _PIECE
        if len(rest) >= _HEAD:
            end = _HEAD + wire.HEAD.unpack_from(rest)[1]
            if offset + end > size:  # half a record, or a length that is damaged
                return
            wanted = max(_PIECE, end - len(rest))


def _whole(offset: int, view: memoryview) -> Piece:
    """The records that are whole in some bytes: the innermost loop of reading, a turn for each record."""
    kinds: list[int] = []
    places = [0]
    place, size, unpack = 0, len(view), wire.HEAD.unpack_from
    while place + _HEAD <= size:
        kind, length = unpack(view, place)
        end = place + _HEAD + length
        if end > size:
            break
        alike = _steps_from(view, place) if kind == Record.STEP and length == wire.STEP.size else 1
        if alike > 1:
            end = place + alike * RECORD.itemsize
            kinds += [kind] * alike
            places += range(place + RECORD.itemsize, end + 1, RECORD.itemsize)
        else:
            kinds.append(kind)
            places.append(end)
        place = end
    return Piece(offset, view, kinds, places)


def _steps_from(view: memoryview, place: int) -> int:
    """How many steps follow each other there, at least one; 1 for a few: each for itself is faster then."""
    ahead = place + _FEW * RECORD.itemsize
    if ahead >= len(view) or view[ahead] != Record.STEP:
        return 1
    rows = np.frombuffer(view, RECORD, min(_MANY, (len(view) - place) // RECORD.itemsize), place)
    other = (rows["type"] != Record.STEP) | (rows["size"] != wire.STEP.size)
    return int(other.argmax()) if other.any() else len(rows)
