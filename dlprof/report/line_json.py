"""Lines of functions as JSON: a list of lines."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, convert

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
    """The lines of functions, in their order. See docs/json.md."""
    return tuple(convert(row, LineCount, from_attributes=True) for function in functions for row in function.lines)
