"""Lines of functions as JSON: a list of lines."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dlprof.analysis.lines import FunctionLines


class LineCount(Struct, frozen=True):
    """A line as it was counted; its time contains what it calls (ns)."""

    file: str
    function: str
    first_line: int
    line: int
    hits: int
    time_ns: int
    source: str | None


def as_json(functions: Sequence[FunctionLines]) -> tuple[LineCount, ...]:
    """The lines of functions, in their order. See `dlprof help json`."""
    return tuple(
        LineCount(
            function.file,
            function.function,
            function.first_line,
            line.line,
            line.hits,
            line.time_ns,
            line.source,
        )
        for function in functions
        for line in function.lines
    )
