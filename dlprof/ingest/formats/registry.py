"""All formats of traces, and which one a file is of: for imports and for a run's own kernel windows alike."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from dlprof import plugins
from dlprof.errors import NoInputError, UsageError
from dlprof.ingest import limits
from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats import (
    chainer,
    chrome,
    cntk,
    cprofile,
    horovod,
    importtime,
    kineto,
    line_profiler,
    mxnet,
    nsys,
    nvidia_smi,
    nvprof,
    nvprof_counters,
    nvprof_text,
    nvprof_trace_text,
    openvino,
    perfetto,
    pyspy,
    rocpd,
    rocprof_csv,
    rocprof_json,
    rpd,
    tf1_steps,
    tf1_timeline,
    theano_profile,
    theano_sums,
    torch_autograd,
    unread,
    xspace,
    xspace_json,
)
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.parse.packed import opened

GROUP = "dlprof.readers"
"""Entry-point group; each entry names a `Reader`."""
HEAD_BYTES = 256 << 10
_IN_ASKING_ORDER = (
    nsys, nvprof, rpd, rocpd, nvprof_text, nvprof_trace_text, nvprof_counters, theano_profile, line_profiler, cprofile,
    importtime, nvidia_smi, rocprof_csv, rocprof_json, pyspy, tf1_timeline, xspace_json, tf1_steps, cntk, chainer,
    openvino, theano_sums, mxnet, horovod, torch_autograd, kineto, xspace, perfetto, chrome,
)  # fmt: skip
"""A file is of the first format that claims it: the particular ones come before those that claim much."""
READERS: tuple[Reader, ...] = tuple(module.READER for module in _IN_ASKING_ORDER)
"""The readers that come with dlprof."""


_NO_EVENTS = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*\]|\{\s*"traceEvents"\s*:\s*\[\s*\]\s*\})\s*')
"""A trace in Chrome's format that holds nothing else, either."""


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
    if _NO_EVENTS.fullmatch(seen.head):
        raise ArtifactError("a trace without any event: nothing was recorded", path=path)
    told = unread.told(seen)
    if told is not None:
        raise ArtifactError(told, path=path)
    known = ", ".join(reader.name for reader in all_readers())
    raise ArtifactError(f"of no format that dlprof knows ({known})", path=path, offset=0)


def named(name: str | None) -> Reader | None:
    """The reader of a format; None: nobody knows it."""
    return next((reader for reader in all_readers() if reader.name == name), None)


def read(path: Path, reader: Reader, columns: Sequence[str] = (), *, is_own: bool = False) -> FileContent:
    """Read a file; whatever goes wrong in the reader comes out as its error.

    Args:
        path: The file.
        reader: The reader of its format.
        columns: Names of its columns, for files that do not name them; a format without columns takes no notice.
        is_own: Whether dlprof took the trace, of a run whose phases it knows.

    Raises:
        ArtifactError: The file is damaged, or asks for more than it may have.
        UsageError: The columns are not those of the format.
    """
    try:
        with limits.reading(path):
            if columns and reader.read_with_columns is not None:
                return reader.read_with_columns(path, columns)
            if is_own and reader.read_window is not None:
                return reader.read_window(path)
            return reader.read(path)
    except (ArtifactError, UsageError, MemoryError):
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        text = f"damaged, or of an unknown version of {reader.name}: {type(error).__name__}: {said}"
        raise ArtifactError(text, path=path) from error


@cache
def all_readers() -> tuple[Reader, ...]:
    """Every reader, those of plug-ins last; one that cannot be loaded is passed over with a warning."""
    return (*READERS, *(reader for _, reader in plugins.loaded(GROUP, "reader", Reader)))
