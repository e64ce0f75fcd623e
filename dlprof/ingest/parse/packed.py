"""Opens files that may be packed."""

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

_GZIP = b"\x1f\x8b"
UNPACKED_AT_MOST = 2 << 30
"""What is unpacked at most: no protocol buffer is larger."""


def opened(path: Path) -> IO[bytes]:
    """The file, unpacked if it is packed with gzip; told by its first bytes, not by its name."""
    with path.open("rb") as source:
        packed = source.read(2) == _GZIP
    return cast("IO[bytes]", gzip.open(path, "rb")) if packed else path.open("rb")


@contextlib.contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap]:
    """The bytes of a file, mapped: memory does not grow with it. One that is packed is unpacked into a file.

    Raises:
        ArtifactError: It is empty, damaged, or unpacked larger than 2 GB.
    """
    with path.open("rb") as source:
        if source.read(2) != _GZIP:
            with _map(path, source) as data:
                yield data
            return
    with tempfile.TemporaryFile(prefix="dlprof-") as unpacked:
        _unpack(path, unpacked)
        with _map(path, unpacked) as data:
            yield data


def _map(path: Path, source: IO[bytes]) -> mmap.mmap:
    if source.seek(0, os.SEEK_END) == 0:
        raise ArtifactError("the file is empty", path=path, offset=0)
    return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)


def _unpack(path: Path, target: IO[bytes]) -> None:
    done = 0
    try:
        with gzip.open(path, "rb") as source:
            while piece := source.read(1 << 20):
                done += target.write(piece)
                if done > UNPACKED_AT_MOST:
                    raise ArtifactError("unpacked it is larger than 2 GB", path=path)
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"damaged: {error}", path=path, offset=done) from error
    target.flush()
