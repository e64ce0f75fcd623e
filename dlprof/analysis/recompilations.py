"""Graphs that were compiled again, with the cause as the in-process probe saw it: which argument differed, and how."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


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
        spans: Table `spans`.
    """
    groups: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    for row in spans.to_pylist():
        if row["kind"] != "graph_compile" or not row["detail"]:
            continue
        detail = json.loads(row["detail"])
        compiled = detail.get("compiled") or {}
        if not compiled.get("again"):
            continue
        causes = detail.get("guards") or compiled.get("cause") or [{}]
        cause = causes[0]
        key = (compiled.get("function"), cause.get("argument"), cause.get("what"), row["file"], row["line"])
        groups.setdefault(key, []).append((row, cause))
    found = [_of(key, group) for key, group in groups.items()]
    return sorted(found, key=lambda one: -one.time_ns)


def _of(key: tuple[Any, ...], group: list[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Recompilation:
    function, argument, what, file, line = key
    first = group[0][1]
    return Recompilation(
        str(function), len(group), sum(row["dur_ns"] for row, _ in group), argument, what, first.get("before"),
        first.get("now"), file, line,
    )  # fmt: skip
