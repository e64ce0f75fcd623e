"""The records of a raw stream (`raw/inproc.wire`), read piece by piece."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.own.step_log import RECORD

_PIECE = 1 << 20
_FEW, _MANY = 8, 4096
"""Steps that are looked at together: more than so few, and up to so many."""


def records(path: Path) -> Iterator[tuple[int, int, memoryview]]:
    """Every whole record of a stream, in order.

    Yields:
        (offset in bytes, type, payload).

    Raises:
        ArtifactError: The file is no stream of the probe, or of a newer version.
    """
    for offset, kind, payload, alike in stretches(path):
        if alike == 1:
            yield offset, kind, payload
        for place in range(0, len(payload) if alike > 1 else 0, RECORD.itemsize):
            yield offset + place, kind, payload[place + wire.HEAD.size : place + RECORD.itemsize]


def stretches(path: Path) -> Iterator[tuple[int, int, memoryview, int]]:
    """Every whole record of a stream, in order; steps that follow each other together. Little of it is in memory.

    Yields:
        (offset in bytes, type, payload, 1), or for more than one step (offset, type, whole records, how many).

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
        yield from _stretches(source, head, os.fstat(source.fileno()).st_size)


def _stretches(source: BinaryIO, offset: int, size: int) -> Iterator[tuple[int, int, memoryview, int]]:
    """Those from `offset` on, which the file stands at, to its size."""
    rest, wanted = b"", _PIECE
    while offset + len(rest) < size and (more := source.read(min(wanted, size - offset - len(rest)))):
        view, place, wanted = memoryview(rest + more), 0, _PIECE
        while place + wire.HEAD.size <= len(view):
            kind, length = wire.HEAD.unpack_from(view, place)
            end = place + wire.HEAD.size + length
            if end > len(view):
                wanted = max(_PIECE, end - len(view)) if offset + end <= size else _PIECE
                if offset + end > size:  # half a record, or a length that is damaged
                    return
                break
            alike = _steps_from(view, place) if kind == Record.STEP and length == wire.STEP.size else 1
            if alike > 1:
                end = place + alike * RECORD.itemsize
            yield offset + place, kind, view[place if alike > 1 else place + wire.HEAD.size : end], alike
            place = end
        rest, offset = bytes(view[place:]), offset + place


def _steps_from(view: memoryview, place: int) -> int:
    """How many steps follow each other there, at least one; 1 for a few: each for itself is faster then."""
    ahead = place + _FEW * RECORD.itemsize
    if ahead >= len(view) or view[ahead] != Record.STEP:
        return 1
    rows = np.frombuffer(view, RECORD, min(_MANY, (len(view) - place) // RECORD.itemsize), place)
    other = (rows["type"] != Record.STEP) | (rows["size"] != wire.STEP.size)
    return int(other.argmax()) if other.any() else len(rows)
