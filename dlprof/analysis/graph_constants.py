"""Large arrays that compiled functions hold as constants, by the line that uses them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run

_COLUMNS = ("name", "file", "line", "detail")


@dataclass(frozen=True)
class GraphConstant:
    """An array that is a constant of a graph.

    Attributes:
        array: Its type and shape, as `float32[1000x1000]`.
        function: Name of the function that was traced.
        bytes: Of the array.
        count: How many graphs have it: one for each time that the function was traced.
        file, line: The user's line that uses it; None: not known.
    """

    array: str
    function: str
    bytes: int
    count: int
    file: str | None
    line: int | None

    @property
    def held_bytes(self) -> int:
        """What all graphs together hold."""
        return self.bytes * self.count


def of_run(run: Run) -> tuple[GraphConstant, ...]:
    """Those of a run, the largest first."""
    counts: dict[tuple[str, str, int, str | None, int | None], int] = {}
    for row in run.chosen("spans", "kind", (SpanKind.GRAPH_CONSTANT,), _COLUMNS):
        told = json.loads(row["detail"] or "{}").get("constant") or {}
        size = told.get("bytes")
        if isinstance(size, int):
            place = (row["file"], row["line"]) if row["file"] else (None, None)
            key = (str(row["name"]), str(told.get("function")), size, *place)
            counts[key] = counts.get(key, 0) + 1
    found = [
        GraphConstant(array, function, size, count, file, line)
        for (array, function, size, file, line), count in counts.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.held_bytes))
