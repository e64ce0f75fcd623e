"""Opens files that may be packed; what they unpack to is counted while it is read."""

from __future__ import annotations

import contextlib
import gzip
import mmap
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.limits import Budget, budget

_GZIP = b"\x1f\x8b"
UNPACKED_AT_MOST = 2 << 30
"""What is unpacked into a file at most: no protocol buffer is larger."""
_STEP = 1 << 20


class _Unpacked(gzip.GzipFile):
    """A packed file that is not read beyond its limit."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._account = budget()

    def read(self, size: int | None = -1) -> bytes:
        """Some bytes; all that may be, where no size is given."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_STEP), b""))
        return self._counted(super().read(size))

    def readline(self, size: int | None = -1) -> bytes:
        """The next line."""
        return self._counted(super().readline(size))

    def _counted(self, piece: bytes) -> bytes:
        limit = self._account.limits.unpacked_bytes
        if self.tell() > limit:
            raise self._account.exceeded(f"unpacked it is larger than {limit >> 20:,} MiB")
        return piece


def opened(path: Path) -> IO[bytes]:
    """The file, unpacked if it is packed with gzip; told by its first bytes, not by its name."""
    with path.open("rb") as source:
        packed = source.read(2) == _GZIP
    return cast("IO[bytes]", _Unpacked(path)) if packed else path.open("rb")


def whole(path: Path) -> bytes:
    """The whole content of a file that is decoded at once.

    Raises:
        ArtifactError: It is damaged.
        LimitError: It is too large for that.
    """
    account = budget()
    limit = account.limits.whole_bytes
    pieces, size = [], 0
    try:
        with opened(path) as source:
            while size <= limit and (piece := source.read(_STEP)):
                pieces.append(piece)
                size += len(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"damaged: {error}", path=path, offset=size) from error
    if size > limit:
        raise account.exceeded(f"more than {limit >> 20:,} MiB in a format that is decoded at once")
    return b"".join(pieces)


@contextlib.contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap]:
    """The bytes of a file, mapped: memory does not grow with it. One that is packed is unpacked into a file.

    Raises:
        ArtifactError: It is empty or damaged.
        LimitError: Unpacked it is larger than 2 GiB, or than the memory that may be taken.
    """
    with path.open("rb") as source:
        if source.read(2) != _GZIP:
            with _map(path, source) as data:
                yield data
            return
    with tempfile.TemporaryFile(prefix="dlprof-") as unpacked:
        _unpack(path, unpacked, budget())
        with _map(path, unpacked) as data:
            yield data


def _map(path: Path, source: IO[bytes]) -> mmap.mmap:
    if source.seek(0, os.SEEK_END) == 0:
        raise ArtifactError("the file is empty", path=path, offset=0)
    return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)


def _unpack(path: Path, target: IO[bytes], account: Budget) -> None:
    done, most = 0, min(UNPACKED_AT_MOST, account.limits.memory_bytes)
    try:
        with gzip.open(path, "rb") as source:
            while piece := source.read(_STEP):
                done += target.write(piece)
                if done > most:
                    raise account.exceeded(f"unpacked it is larger than {most >> 20:,} MiB")
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"damaged: {error}", path=path, offset=done) from error
    target.flush()
