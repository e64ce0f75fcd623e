"""Steps of a stream, in pieces: those that are many wait in an unnamed file, not in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from dlprof_probes import wire

Rows = npt.NDArray[np.void]
RECORD = np.dtype(
    [("type", "u1"), ("size", "<u4"), ("thread", "<u8"), ("loop", "<u4"), ("epoch", "<i4"), ("step", "<i4"),
     ("count", "<u4"), ("begin", "<i8"), ("end", "<i8"), ("input", "<i8"), ("callbacks", "<i8"), ("offset", "<i8"),
     ("call", "<i8"), ("wait", "<i8"), ("flags", "u1")]
)  # fmt: skip
"""`wire.STEP_RECORD`: the head of the record, and the step."""
PIECE = 1 << 16
"""Rows of a piece."""
_PIECES = 8
"""Pieces in memory."""


class StepLog:
    """The steps of a stream in order; as tuples they have the fields of `wire.STEP`.

    Args:
        folder: Where an unnamed file may be made; None, or one that nothing can be written to: where such files are.

    Attributes:
        steps: How many there are, those that are put together counted one by one.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.steps = 0
        self._folder = folder
        self._waiting: list[tuple[int, ...]] = []
        self._length = 0
        self._piece = np.empty(0, RECORD)
        """The last piece; it is not full."""
        self._filled = 0
        self._pieces: list[Rows] = []
        self._file: IO[bytes] | None = None

    def append(self, fields: tuple[int, ...]) -> None:
        """Add a step."""
        self._waiting.append((wire.Record.STEP, wire.STEP.size, *fields))
        self._length += 1
        self.steps += fields[4]
        if len(self._waiting) >= PIECE:
            self._settle()

    def extend(self, rows: Rows) -> None:
        """Add steps of the type RECORD; they are copied."""
        self._settle()
        self._length += len(rows)
        self.steps += int(rows["count"].sum(dtype=np.int64))
        self._keep(rows)

    def pieces(self) -> Iterator[Rows]:
        """All of them, in arrays of RECORD."""
        self._settle()
        if self._file is not None:
            self._file.seek(0)
            while piece := self._file.read(PIECE * RECORD.itemsize):
                yield np.frombuffer(piece, RECORD)
            self._file.seek(0, 2)
        yield from self._pieces
        if self._filled:
            yield self._piece[: self._filled]

    def _settle(self) -> None:
        if self._waiting:
            self._keep(np.array(self._waiting, RECORD))
            self._waiting = []

    def _keep(self, rows: Rows) -> None:
        while len(rows):
            if self._filled == len(self._piece):
                self._begin_piece()
            fits = rows[: len(self._piece) - self._filled]
            self._piece[self._filled : self._filled + len(fits)] = fits
            self._filled += len(fits)
            rows = rows[len(fits) :]

    def _begin_piece(self) -> None:
        """Put the full one away, with those before it into the file if they are many."""
        if self._filled:
            self._pieces.append(self._piece)
        if len(self._pieces) >= _PIECES:
            file = self._spill()
            for piece in self._pieces:
                file.write(piece.tobytes())
            self._pieces = []
        self._piece, self._filled = np.empty(PIECE, RECORD), 0

    def _spill(self) -> IO[bytes]:
        if self._file is None:
            try:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  (it goes with this log)
            except OSError:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
        return self._file

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return (tuple(row)[2:] for piece in self.pieces() for row in piece.tolist())

    def __eq__(self, other: object) -> bool:
        """Whether it has the same steps as a list of tuples."""
        return list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, number: int) -> Any:
        return list(self)[number]
