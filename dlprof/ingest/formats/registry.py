"""All readers of foreign traces, and which one a file is for."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from dlprof.errors import NoInputError
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.kernels.trace import Foreign
from dlprof.ingest.parse.chrome import opened

GROUP = "dlprof.readers"
"""Entry-point group; each entry names a `Reader`."""
HEAD_BYTES = 256 << 10


@dataclass(frozen=True)
class Sample:
    """What a reader may look at to tell whether a file is its own.

    Attributes:
        path: The file.
        head: Its first bytes, unpacked if it is packed with gzip.
    """

    path: Path
    head: bytes

    @property
    def text(self) -> str:
        """The head as text."""
        return self.head.decode("utf-8", "replace")


@dataclass(frozen=True)
class Reader:
    """A format.

    Attributes:
        name: Short name, as in `dlprof import --format NAME`.
        title: One line for people.
        claims: Whether a file is of this format; must be quick, and not raise.
        read: Reads it; raises nothing but ArtifactError.
    """

    name: str
    title: str
    claims: Callable[[Sample], bool]
    read: Callable[[Path], Foreign]


def sample(path: Path) -> Sample:
    """The head of a file.

    Raises:
        NoInputError: There is no such file, or it cannot be opened.
        ArtifactError: It is empty, or packed and damaged.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise NoInputError(f"{path} cannot be read: it is a pipe or a device, not a file.")
    try:
        with opened(path) as source:
            head = source.read(HEAD_BYTES)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise NoInputError(f"{path} cannot be read: {error.strerror}.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"damaged: {error}", path=path, offset=0) from error
    if not head:
        hint = ": a profiler that failed to write it leaves such a file" if path.stat().st_size == 0 else ""
        raise ArtifactError(f"the file is empty{hint}", path=path, offset=0)
    return Sample(path, head)


def find(path: Path) -> Reader:
    """The reader for a file.

    Raises:
        NoInputError: There is no such file.
        ArtifactError: No reader knows it.
    """
    seen = sample(path)
    for reader in all_readers():
        if reader.claims(seen):
            return reader
    known = ", ".join(reader.name for reader in all_readers())
    raise ArtifactError(f"of no format that dlprof knows ({known})", path=path, offset=0)


def read(path: Path, reader: Reader) -> Foreign:
    """Read a file; whatever goes wrong in the reader comes out as its error.

    Raises:
        ArtifactError: The file is damaged.
    """
    try:
        return reader.read(path)
    except ArtifactError:
        raise
    except MemoryError as error:
        raise ArtifactError("it does not fit into memory", path=path) from error
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        text = f"damaged, or of an unknown version of {reader.name}: {type(error).__name__}: {said}"
        raise ArtifactError(text, path=path) from error


@cache
def all_readers() -> tuple[Reader, ...]:
    """Every reader, those of plug-ins last; one that cannot be loaded is passed over with a warning."""
    from dlprof.ingest.formats import own_readers  # noqa: PLC0415  (it names this module's classes)

    found = list(own_readers.READERS)
    for entry in entry_points(group=GROUP):
        try:
            found.append(entry.load())
        except Exception as error:  # noqa: BLE001  (a foreign plug-in may fail in any way)
            print(f"dlprof: warning: reader plug-in {entry.name} cannot be loaded: {error}", file=sys.stderr)
    return tuple(found)
