"""Lines: which of the user's lines took the time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Line:
    """A line with its counts.

    Attributes:
        line: Its number.
        hits: How often it ran; 0: never.
        time_ns: Time in it, with what it calls (ns).
        source: Its text; None: not known.
    """

    line: int
    hits: int
    time_ns: int
    source: str | None


@dataclass(frozen=True)
class FunctionLines:
    """A function with the counts of its lines.

    Attributes:
        file: As in the tables.
        function: Its qualified name; `<module>` for a file's own code.
        first_line: Where it begins.
        total_ns: Time of all its lines, with what they call (ns).
        lines: In order of their numbers.
    """

    file: str
    function: str
    first_line: int
    total_ns: int
    lines: tuple[Line, ...]

    @property
    def name(self) -> str:
        """Its name as a call has it."""
        return self.function.rpartition(".")[2]


@dataclass(frozen=True)
class HotLine:
    """A line that took much time of its own.

    Attributes:
        first_line: Where its function begins.
        time_ns: Time in it, with what it calls (ns).
        own_ns: Of that, outside of profiled functions that it calls (ns).
    """

    file: str
    function: str
    first_line: int
    line: int
    hits: int
    time_ns: int
    own_ns: int
    source: str | None


def functions(table: pa.Table) -> list[FunctionLines]:
    """Every function of the table `lines`, the most expensive first."""
    grouped: dict[tuple[str, str, int], list[Line]] = defaultdict(list)
    for row in table.to_pylist():
        line = Line(row["line"], row["hits"], row["time_ns"], row["source"])
        grouped[row["file"], row["function"], row["first_line"]].append(line)
    counted = [
        FunctionLines(*key, sum(line.time_ns for line in lines), tuple(sorted(lines, key=lambda line: line.line)))
        for key, lines in grouped.items()
    ]
    return sorted(counted, key=lambda function: (-function.total_ns, function.file, function.first_line))


def hottest(counted: Iterable[FunctionLines], top: int) -> list[HotLine]:
    """The lines with the most time of their own.

    A line's time contains what it calls. So that `main()` does not head every list, the totals of
    profiled functions are taken off the lines that call them, as far as their names show it.

    Args:
        counted: Functions, the most expensive first.
        top: At most so many lines.
    """
    by_name = {function.name: function for function in counted}
    lines = [_hot(function, line, by_name.values()) for function in by_name.values() for line in function.lines]
    return sorted((line for line in lines if line.own_ns > 0), key=lambda line: -line.own_ns)[:top]


def _hot(function: FunctionLines, line: Line, profiled: Iterable[FunctionLines]) -> HotLine:
    source = line.source or ""
    called = sum(other.total_ns for other in profiled if other is not function and f"{other.name}(" in source)
    own_ns = max(0, line.time_ns - called) if called else line.time_ns
    return HotLine(
        function.file,
        function.function,
        function.first_line,
        line.line,
        line.hits,
        line.time_ns,
        own_ns,
        line.source,
    )
