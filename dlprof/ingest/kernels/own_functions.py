"""Functions of the user's in a trace of Python that names files without their folders: with all that they call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import PurePath
from typing import Any

import numpy as np

from dlprof.ingest.kernels.events import Booleans, Integers
from dlprof.ingest.kernels.nesting import levels, nest, union_ns
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import EventKind

_AT_MOST = 20
_PLACED = re.compile(r"(?P<file>[^/\\]+)\((?P<line>\d{1,9})\): (?P<function>.+)", re.DOTALL)
_PACKAGES = re.compile(r"(site|dist)-packages[/\\]|lib/python\d|^<")


def of_trace(trace: Trace) -> list[dict[str, Any]]:
    """The functions in which the trace was for longest, and for how long (`function`, `total_ns`).

    Which files are the user's the programs of XLA say, which keep the lines that made them. Libraries may have files
    of the same names: so only functions count that no function of another file called.
    """
    files = _user_files(trace)
    names = {at: told for at, text in enumerate(trace.names.values) if (told := _placed(text, files)) is not None}
    columns = list(_python(trace)) if names else []
    if not columns:
        return []
    lane, start, dur, name = (np.concatenate(column) for column in zip(*columns, strict=True))
    tree = nest(lane.astype(np.int32), start, dur)
    called = name[tree.order]
    own = _from_outside(np.isin(called, list(names)), tree.parent, tree.depth)
    times: dict[str, int] = {}
    for number in np.unique(called[own]).tolist():
        rows = own & (called == number)
        times[names[number]] = _covered(tree.lane[rows], tree.start[rows], tree.end[rows])
    longest = sorted(times.items(), key=lambda item: (-item[1], item[0]))[:_AT_MOST]
    return [{"function": function, "total_ns": ns} for function, ns in longest]


def _user_files(trace: Trace) -> set[str]:
    """Names of the files, without folders, from which the programs were made."""
    made = {
        frame.file
        for program in trace.programs.values()
        for instruction in program.values()
        for frame in (instruction.frame.outwards() if instruction.frame is not None else ())
    }
    return {PurePath(file).name for file in made if not _PACKAGES.search(file)}


def _placed(text: str, files: Collection[str]) -> str | None:
    """`load (train.py:14)` of a function in one of some files; None: it is in none."""
    found = _PLACED.fullmatch(text)
    if found is None or found["file"] not in files:
        return None
    return f"{found['function']} ({found['file']}:{found['line']})"


def _python(trace: Trace) -> Iterator[tuple[Integers, Integers, Integers, Integers]]:
    """Lane, start (ns), duration (ns) and name of the functions of Python."""
    for chunk in trace.events.chunks():
        rows = chunk.select(chunk.is_kind(EventKind.PYTHON))
        yield rows.lane.astype(np.int64), rows.start, rows.dur, rows.name.astype(np.int64)


def _from_outside(wanted: Booleans, parent: Integers, depth: Integers) -> Booleans:
    """Those that are wanted, as are all around them."""
    found = wanted.copy()
    for level in levels(depth)[1:]:
        inside = level[parent[level] >= 0]
        found[inside] &= found[parent[inside]]
    return found


def _covered(lane: Integers, start: Integers, end: Integers) -> int:
    """The time in which at least one of some events ran, thread by thread (ns); one may call itself."""
    rows = (lane == number for number in np.unique(lane).tolist())
    return sum(union_ns(start[own], end[own]) for own in rows)
