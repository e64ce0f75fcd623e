"""Modules that the user's code imports in one of two runs and not in the other: their time is no noise of the imports.

Only imports that take some milliseconds are recorded, so that of what libraries import among themselves each run tells
others. New is what a line of the user's imports, if no line of the other run does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dlprof.analysis import import_lines, phase_threads
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run

_COLUMNS = ("kind", "span_id", "parent_id", "name", "thread_id", "start_ns", "dur_ns", "file", "line")
_LEAST_NS = 20_000_000
"""Less is near to what is not recorded at all."""
_IMPORTED = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\b|import\s+(.+))")
_Row = Mapping[str, Any]


@dataclass(frozen=True)
class NewImport:
    """A module that the user's code imports in only one of two runs.

    Attributes:
        name: Its name.
        file, line: The line that imports it.
        dur_ns: What importing it took, without what both runs import (ns).
    """

    name: str
    file: str
    line: int
    dur_ns: int


def only_in(run: Run, other: Run) -> tuple[NewImport, ...]:
    """Modules that `run` imports and `other` does not, the longest first; empty where the other told no imports.

    Only imports of the script itself count: what a training imports while it runs is in its phases.
    """
    theirs = {row["name"] for row in other.chosen("spans", "kind", [SpanKind.IMPORT], ("kind", "name"))}
    if not theirs:
        return ()
    written, whose = _written(other), phase_threads.of_run(run)
    spans = {row["span_id"]: row for row in run.chosen("spans", "kind", [SpanKind.IMPORT, SpanKind.SCRIPT], _COLUMNS)}
    below: dict[int, list[_Row]] = {}
    for row in spans.values():
        below.setdefault(row["parent_id"], []).append(row)

    def is_new(row: _Row) -> bool:
        place = row["kind"] == SpanKind.IMPORT and row["file"] is not None and row["line"] is not None
        return place and row["name"] not in theirs and row["name"].partition(".")[0] not in written

    found = [
        NewImport(row["name"], row["file"], row["line"], row["dur_ns"] - _of_both_ns(row, below, theirs))
        for row in spans.values()
        if is_new(row) and not any(map(is_new, _above(row, spans))) and import_lines.is_of_work(row, spans, whose)
    ]
    return tuple(sorted((one for one in found if one.dur_ns >= _LEAST_NS), key=lambda one: (-one.dur_ns, one.name)))


def _written(run: Run) -> set[str]:
    """Packages that lines of the user's import, by their texts."""
    names: set[str] = set()
    for row in run.rows("lines"):
        found = _IMPORTED.match(row["source"] or "")
        if found is not None:
            modules = [found.group(1)] if found.group(1) else found.group(2).split(",")
            names.update(module.strip().partition(" ")[0].partition(".")[0] for module in modules)
    return names


def _above(row: _Row, spans: Mapping[int, _Row]) -> Iterator[_Row]:
    """What made an import, from the inside out."""
    above = spans.get(row["parent_id"])
    while above is not None:
        yield above
        above = spans.get(above["parent_id"])


def _of_both_ns(row: _Row, below: Mapping[int, list[_Row]], theirs: set[str]) -> int:
    """What modules that both runs import take of it (ns)."""
    parts = below.get(row["span_id"], ())
    return sum(part["dur_ns"] if part["name"] in theirs else _of_both_ns(part, below, theirs) for part in parts)


def explain(a: Run, b: Run, delta_ns: int, least_ns: int) -> bool:
    """Whether modules that only one run imports explain a good part of the difference of their imports.

    Args:
        a: One run.
        b: The other.
        delta_ns: What a's imports took more (ns); negative: less.
        least_ns: What is worth a word (ns).
    """
    new_ns = sum(one.dur_ns for one in only_in(*((a, b) if delta_ns > 0 else (b, a))))
    return new_ns >= max(least_ns, abs(delta_ns) // 2) and abs(delta_ns) >= least_ns
