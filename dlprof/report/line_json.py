"""Lines of functions as JSON: a list of lines."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dlprof.analysis.lines import FunctionLines
from dlprof.schema.vocabulary import LineSource


class LineCount(Struct, frozen=True):
    """A line as it was counted, or seen in samples; its time contains what it calls (ns).

    Where `how` is `sampled`, `hits` is null, and the time is known to about `error_ns` (one standard error). Where it
    is `scaled`, `hits` has no more digits than are known. `exact` with `samples`: the steps of a loop tell `hits`.
    """

    file: str
    function: str
    first_line: int | None
    line: int
    hits: int | None
    time_ns: int
    source: str | None
    how: LineSource
    samples: int | None
    error_ns: int | None
    process: str | None = None
    """What the processes are called that it ran in; null: the program itself."""


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
            function.how_of(line),
            line.samples,
            line.error_ns,
            function.process,
        )
        for function in functions
        for line in function.lines
    )
