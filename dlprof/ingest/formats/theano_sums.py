"""Reads the sums that dlprof had Theano's profiler keep over a whole run (JSON)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.packed import whole
from dlprof.ingest.parse.text_files import NS_AT_MOST
from dlprof.ingest.parse.theano_operators import operator_sum

_Count = Annotated[int, msgspec.Meta(ge=0, le=NS_AT_MOST)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=NS_AT_MOST / 1e9)]


class _Function(msgspec.Struct):
    operators: dict[str, tuple[_Count, _Seconds]]
    """Calls, and the time of all of them (s)."""


class _File(msgspec.Struct):
    functions: list[_Function]


def claims(sample: Sample) -> bool:
    """Whether a file is one of ours on Theano."""
    return sample.head.lstrip()[:20].startswith(b'{"functions":') and b'"operators"' in sample.head


def read(path: Path) -> FileContent:
    """The operators of all functions.

    Raises:
        ArtifactError: The file is damaged.
    """
    try:
        content = msgspec.json.decode(whole(path), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    sums = [
        operator_sum(op, calls, round(seconds * 1e9))
        for function in content.functions
        for op, (calls, seconds) in function.operators.items()
    ]
    return FileContent.of(Trace(path, "theano", "theano", sums=sums))


READER = Reader("theano", "dlprof's own of Theano (JSON)", claims, read)
