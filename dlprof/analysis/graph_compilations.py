"""What it took to make each graph, by the stages that its engine tells apart: trace, lower, compile, first run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.schema.vocabulary import SpanKind

COLUMNS = ("kind", "name", "thread_id", "start_ns", "dur_ns", "detail", "file", "line")
"""Columns of the table `spans` that are looked at."""
_KINDS = (SpanKind.GRAPH_COMPILE, SpanKind.GRAPH_STAGE, SpanKind.FIRST_RUN)


class Stage(StrEnum):
    """A part of making a graph, as the in-process probe calls it."""

    TRACE = "trace"
    LOWER = "lower"
    COMPILE = "compile"
    FIRST_RUN = "first_run"


@dataclass(frozen=True, kw_only=True)
class GraphCompilation:
    """All that was done to make the graphs of one function.

    Attributes:
        function: Its name, as the engine calls it.
        count: How often it was compiled, or traced where the engine tells no more.
        time_ns: All of it (ns).
        trace_ns: Python that runs to make a graph (ns); None: the engine does not tell it apart.
        lower_ns: Turning it into what the compiler takes (ns); None: as above.
        compile_ns: The compiler (ns); where the engine tells no stage apart, all of it. None: as above.
        first_run_ns: The first call of what was made, outside of steps: TensorFlow optimises its graph then (Grappler)
            (ns); None: as above.
        file, line: Where the user's code made the call that took longest; None where there was none.
    """

    function: str
    count: int
    time_ns: int
    trace_ns: int | None = None
    lower_ns: int | None = None
    compile_ns: int | None = None
    first_run_ns: int | None = None
    file: str | None = None
    line: int | None = None


@dataclass
class _Part:
    """A span, and how much of it is its own."""

    function: str
    stage: Stage
    own_ns: int
    end_ns: int
    row: dict[str, Any]


def find(spans: pa.Table) -> list[GraphCompilation]:
    """The functions that a run has made graphs of, the most costly first.

    Args:
        spans: Columns of the table `spans`: those of COLUMNS.
    """
    chosen = spans.filter(pc.is_in(spans["kind"].cast(pa.string()), pa.array(_KINDS)))
    groups: dict[str, list[_Part]] = {}
    for part in _parts(chosen.sort_by([("thread_id", "ascending"), ("start_ns", "ascending")])):
        groups.setdefault(part.function, []).append(part)
    return sorted((_joined(parts) for parts in groups.values()), key=lambda one: -one.time_ns)


def _parts(spans: pa.Table) -> Iterator[_Part]:
    """Each span; the time of those inside of it is theirs. They are of its function where they name none."""
    outer: list[_Part] = []
    for row in spans.to_pylist():
        while outer and (outer[-1].row["thread_id"] != row["thread_id"] or outer[-1].end_ns <= row["start_ns"]):
            yield outer.pop()
        part = _part(row, outer[-1].function if outer else None)
        if outer:
            outer[-1].own_ns -= row["dur_ns"]
        outer.append(part)
    yield from reversed(outer)


def _part(row: dict[str, Any], around: str | None) -> _Part:
    detail = json.loads(row["detail"]) if row["detail"] else {}
    graph = detail.get("graph") or {}
    known = graph.get("function") or (detail.get("compiled") or {}).get("function")
    stage = graph.get("stage")
    return _Part(
        function=str(known or around or row["name"]),
        stage=Stage(stage) if stage in frozenset(Stage) else Stage.COMPILE,
        own_ns=row["dur_ns"],
        end_ns=row["start_ns"] + row["dur_ns"],
        row=row,
    )


def _joined(parts: list[_Part]) -> GraphCompilation:
    """All parts of one function."""
    times: dict[Stage, int] = {}
    for part in parts:
        times[part.stage] = times.get(part.stage, 0) + max(0, part.own_ns)
    longest = max(parts, key=lambda part: (part.row["file"] is not None, part.row["dur_ns"]))
    compilations = sum(part.row["kind"] == SpanKind.GRAPH_COMPILE for part in parts)
    return GraphCompilation(
        function=parts[0].function,
        count=compilations or len([part for part in parts if part.stage is Stage.TRACE]),
        time_ns=sum(times.values()),
        trace_ns=times.get(Stage.TRACE),
        lower_ns=times.get(Stage.LOWER),
        compile_ns=times.get(Stage.COMPILE),
        first_run_ns=times.get(Stage.FIRST_RUN),
        file=longest.row["file"],
        line=longest.row["line"],
    )
