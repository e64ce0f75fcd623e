"""Graphs that were compiled again, with the cause as the in-process probe saw it: which argument differed, and how."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.schema.vocabulary import SpanKind

COLUMNS = ("kind", "dur_ns", "detail", "file", "line")
"""Columns of the table `spans` that are looked at."""


@dataclass(frozen=True)
class Recompilation:
    """Compilations of one function for one cause.

    Attributes:
        function: Its name, as the engine calls it.
        count: How many there were, the first compilation of the function not among them.
        time_ns: Time that they took (ns).
        argument: The argument that differed; None where the engine does not tell, or where several did.
        what: `shape`, `dtype`, `value`, `identity`, `number of arguments`, `guard`; None: not known.
        before, now: The argument at an earlier compilation and at the first of these; a guard's text is in `now`.
        file, line: Where the user's code made the call; None where there was none.
    """

    function: str
    count: int
    time_ns: int
    argument: str | None
    what: str | None
    before: str | None
    now: str | None
    file: str | None
    line: int | None


def find(spans: pa.Table) -> list[Recompilation]:
    """All recompilations of a run, the most costly first.

    Args:
        spans: Columns of the table `spans`: those of COLUMNS.
    """
    groups: dict[tuple[Any, ...], list[Recompilation]] = {}
    compilations = spans.filter(pc.equal(spans["kind"].cast(pa.string()), SpanKind.GRAPH_COMPILE))
    for row in compilations.to_pylist():
        if row["detail"]:
            again = _again(row, json.loads(row["detail"]))
            if again is not None:
                key = (again.function, again.argument, again.what, again.file, again.line)
                groups.setdefault(key, []).append(again)
    joined = [_joined(group) for group in groups.values()]
    return sorted(joined, key=lambda again: -again.time_ns)


def _again(row: Mapping[str, Any], detail: Mapping[str, Any]) -> Recompilation | None:
    """A compilation of which the probe told that it was not the first of its function."""
    compiled = detail.get("compiled") or {}
    if not compiled.get("again"):
        return None
    cause = (detail.get("guards") or compiled.get("cause") or [{}])[0]
    return Recompilation(
        function=str(compiled.get("function")),
        count=1,
        time_ns=row["dur_ns"],
        argument=cause.get("argument"),
        what=cause.get("what"),
        before=cause.get("before"),
        now=cause.get("now"),
        file=row["file"],
        line=row["line"],
    )


def _joined(group: Sequence[Recompilation]) -> Recompilation:
    """Compilations for one cause as one, with the values of the first."""
    return replace(group[0], count=len(group), time_ns=sum(again.time_ns for again in group))
