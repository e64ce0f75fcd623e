"""Where a compiler of graphs had to end one and go on in Python, and why."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.schema.vocabulary import SpanKind

COLUMNS = ("kind", "name", "start_ns", "file", "line")
"""Columns of the table `spans` that are looked at."""


@dataclass(frozen=True)
class GraphBreak:
    """Breaks at one line for one reason.

    Attributes:
        reason: As the engine says it.
        count: How often it was met while graphs were compiled; not how often it was run through.
        file, line: The innermost line of the user's own code, else of all code; None: not known.
    """

    reason: str
    count: int
    file: str | None
    line: int | None


def find(spans: pa.Table) -> list[GraphBreak]:
    """The breaks of a run, in the order in which the first of each was met.

    Args:
        spans: Columns of the table `spans`: those of COLUMNS.
    """
    breaks = spans.filter(pc.equal(spans["kind"].cast(pa.string()), SpanKind.GRAPH_BREAK))
    plain = {name: breaks[name].cast(pa.string()) for name in ("name", "file")}
    plain.update({name: breaks[name] for name in ("line", "start_ns")})
    sums = [("start_ns", "count"), ("start_ns", "min")]
    found = pa.table(plain).group_by(["name", "file", "line"]).aggregate(sums).sort_by("start_ns_min")
    return [GraphBreak(row["name"], row["start_ns_count"], row["file"], row["line"]) for row in found.to_pylist()]
