"""Reads the files of cProfile, and of those that write the same (`pstats`): own time and calls of each function."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import OperatorSum, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.marshalled import MarshalError, load
from dlprof.ingest.parse.packed import opened
from dlprof.ingest.parse.text_files import NS_AT_MOST
from dlprof.schema.vocabulary import EventKind

_HEAD = re.compile(rb"[{\xfb](?:[)\xa9]\x03|[(\xa8]\x03\x00\x00\x00)", re.DOTALL)
"""A dictionary whose first key is a tuple of three: file, line and name of a function."""
_BUILT_IN = ("~", "")
_TOLD_AT_MOST = 20
_NOT_OWN = ("site-packages", "dist-packages", "/lib/python", "\\lib\\")
"""In files of packages, and of Python's own library."""


def claims(sample: Sample) -> bool:
    """Whether a file begins as the tables of cProfile do."""
    return _HEAD.match(sample.head) is not None


def read(path: Path) -> FileContent:
    """The functions as sums: own time and calls. Times with callees are in the facts, of those with most.

    Raises:
        ArtifactError: The file is damaged, or something else.
    """
    try:
        with opened(path) as source:
            data = source.read(budget().limits.piece_bytes + 1)
        if len(data) > budget().limits.piece_bytes:
            raise budget().exceeded(f"a table of more than {budget().limits.piece_bytes >> 20} MiB")
        items = _items(load(data))
        functions = [_function(key, row) for key, row in items]
    except MarshalError as error:
        raise ArtifactError(f"damaged: {error}", path=path, offset=error.offset) from error
    except (OSError, EOFError, zlib.error, TypeError, ValueError) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    trace = Trace(path, "cprofile", "python", sums=[total for total, _ in functions])
    longest = sorted(functions, key=lambda function: -function[1])
    own = sorted((f for f, (key, _) in zip(functions, items, strict=True) if _is_own(key)), key=lambda one: -one[1])
    trace.facts = {
        "functions": len(functions),
        "calls": sum(total.count for total, _ in functions),
        "longest_with_callees": _with_callees(longest[:_TOLD_AT_MOST]),
        "own_with_callees": _with_callees(own[:_TOLD_AT_MOST]),
    }
    text = f"{path.name} holds sums by function: own time and calls. Which function called which is not read."
    trace.tell("sums-of-functions", "info", text)
    return FileContent.of(trace)


def _with_callees(functions: Sequence[tuple[OperatorSum, int]]) -> list[dict[str, Any]]:
    return [{"function": total.name, "total_ns": ns} for total, ns in functions]


def _items(table: Any) -> list[tuple[Any, Any]]:
    if not isinstance(table, dict) or not table:
        raise ValueError("no table of functions")
    return list(table.items())


def _function(key: Any, row: Any) -> tuple[OperatorSum, int]:
    """A function: its own time and calls, and its time with all that it called (ns)."""
    file, line, name = key
    _, calls, own_s, whole_s, *_ = row
    if not isinstance(file, str) or not isinstance(name, str) or type(line) is not int or type(calls) is not int:
        raise TypeError("a function without place, name or calls")
    if calls == -1:
        raise ValueError("it counts no calls: a sampler wrote it; what `pyinstrument -r speedscope` writes is read")
    if not 0 <= calls < 1 << 62:
        raise ValueError(f"{calls} calls")
    budget().hold_texts(4, len(file) + len(name), "functions")
    return OperatorSum(EventKind.OPERATOR, _told(file, line, name), CPU, calls, _ns(own_s)), _ns(whole_s)


def _is_own(key: Any) -> bool:
    """Whether a function is the user's, and no whole module."""
    file, _line, name = key
    return not (
        file in _BUILT_IN or file.startswith("<") or name == "<module>" or any(part in file for part in _NOT_OWN)
    )


def _told(file: str, line: int, name: str) -> str:
    """A function as `pstats` prints it: `{built-in method time.sleep}`, else with its place behind it."""
    if file in _BUILT_IN:
        return f"{{{name[1:-1]}}}" if name.startswith("<") and name.endswith(">") else name
    return f"{name} ({file}:{line})"


def _ns(seconds: Any) -> int:
    if not isinstance(seconds, (int, float)) or not math.isfinite(seconds) or abs(seconds) * 1e9 > NS_AT_MOST:
        raise ValueError(f"{str(seconds)[:40]} is no time")
    return max(0, round(seconds * 1e9))  # clocks that step back make times below zero


READER = Reader("cprofile", "cProfile (pstats)", claims, read)
