"""Lines: which of the user's lines took the time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from dlprof.schema.vocabulary import LineSource

_Key = tuple[str, str, int | None, LineSource, str | None]
"""File, function, its first line, how its times are known, and its processes."""


@dataclass(frozen=True)
class Line:
    """A line with its counts, or with the samples that it was seen in.

    Attributes:
        line: Its number.
        hits: How often it ran; 0: never; None: not counted.
        time_ns: Time in it, with what it calls (ns).
        source: Its text; None: not known.
        samples: In how many samples it was seen; None: its time was counted.
        is_known: Whether its hits are exact in a function that was counted in windows: steps of a loop tell them.
    """

    line: int
    hits: int | None
    time_ns: int
    source: str | None
    samples: int | None = None
    is_known: bool = False

    @property
    def error_ns(self) -> int | None:
        """Standard error of a time from samples (ns); None: it was counted."""
        return standard_error_ns(self.time_ns, self.samples)


@dataclass(frozen=True)
class FunctionLines:
    """A function with the counts of its lines.

    A function that ran both where lines are counted and where they are not is there twice: its times add up.

    Attributes:
        file: As in the tables.
        function: Its qualified name; `<module>` for a file's own code.
        first_line: Where it begins; None: not known.
        total_ns: Time of all its lines, with what they call (ns).
        lines: In order of their numbers; of a sampled function only those that were seen.
        how: How its times are known.
        process: What the processes are called that it ran in; None: the program itself.
    """

    file: str
    function: str
    first_line: int | None
    total_ns: int
    lines: tuple[Line, ...]
    how: LineSource = LineSource.EXACT
    process: str | None = None

    @property
    def name(self) -> str:
        """Its name as a call has it."""
        return self.function.rpartition(".")[2]

    def how_of(self, line: Line) -> LineSource:
        """How the hits of one of its lines are known."""
        return LineSource.EXACT if line.is_known else self.how


@dataclass(frozen=True)
class HotLine:
    """A line that took much time of its own.

    Attributes:
        first_line: Where its function begins; None: not known.
        hits: How often it ran; None: not counted.
        time_ns: Time in it, with what it calls (ns).
        own_ns: Of that, outside of profiled functions that it calls (ns).
        how: How its hits are known.
        samples: In how many samples it was seen; None: its time was counted.
        process: What the processes are called that it ran in, whose times are added up; None: the program itself.
    """

    file: str
    function: str
    first_line: int | None
    line: int
    hits: int | None
    time_ns: int
    own_ns: int
    source: str | None
    how: LineSource = LineSource.EXACT
    samples: int | None = None
    process: str | None = None


def standard_error_ns(time_ns: int, samples: int | None) -> int | None:
    """Standard error of a time that was seen in so many samples, as of a count (ns); None: it was not sampled."""
    return round(time_ns / math.sqrt(samples)) if samples else None


def functions(table: pa.Table, processes: Mapping[int, str] | None = None) -> list[FunctionLines]:
    """Every function of the table `lines`, the most expensive first.

    Args:
        table: Table `lines`.
        processes: Processes that are not the program, with what they are called: those that are called the same are
            added up.
    """
    others = processes or {}
    grouped: dict[_Key, dict[int, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for row in table.to_pylist():
        how = LineSource(row["how"] or LineSource.EXACT)
        # One that is counted, and has its time from samples, was counted in windows, and steps tell its hits.
        is_known = how is LineSource.EXACT and row["samples"] is not None
        how = LineSource.SCALED if is_known else how
        line = Line(row["line"], row["hits"], row["time_ns"], row["source"], row["samples"], is_known)
        key = row["file"], row["function"], row["first_line"], how, others.get(row["pid"])
        grouped[key][row["line"]].append(line)
    found = [_function(key, [_sum(same) for same in lines.values()]) for key, lines in grouped.items()]
    return sorted(found, key=lambda function: (-function.total_ns, function.file, function.first_line or 0))


def _function(key: _Key, lines: list[Line]) -> FunctionLines:
    file, name, first_line, how, process = key
    in_order = tuple(sorted(lines, key=lambda line: line.line))
    return FunctionLines(file, name, first_line, sum(line.time_ns for line in lines), in_order, how, process)


def _sum(same: Sequence[Line]) -> Line:
    """A line as several processes ran it."""
    first, *more = same
    for line in more:
        first = replace(
            first,
            hits=_added(first.hits, line.hits),
            time_ns=first.time_ns + line.time_ns,
            samples=_added(first.samples, line.samples),
            is_known=first.is_known and line.is_known,
        )
    return first


def _added(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def hottest(found: Iterable[FunctionLines], top: int) -> list[HotLine]:
    """The lines with the most time of their own.

    A line's time contains what it calls. So that `main()` does not head every list, the totals of
    profiled functions are taken off the lines that call them, as far as their names show it: not where
    several have the name. What a counted line calls is counted, and what a sampled one calls is sampled.

    Args:
        found: Functions, the most expensive first.
        top: At most so many lines.
    """
    functions = list(found)
    names = Counter((function.name, function.how, function.process) for function in functions)
    callees = [one for one in functions if names[one.name, one.how, one.process] == 1]
    lines = [_hot(function, line, callees) for function in functions for line in function.lines]
    return sorted((line for line in lines if line.own_ns > 0), key=lambda line: -line.own_ns)[:top]


def _hot(function: FunctionLines, line: Line, callees: Iterable[FunctionLines]) -> HotLine:
    called = sum(other.total_ns for other in callees if _calls(function, line, other))
    return HotLine(
        function.file,
        function.function,
        function.first_line,
        line.line,
        line.hits,
        line.time_ns,
        max(0, line.time_ns - called),
        line.source,
        function.how_of(line),
        line.samples,
        function.process,
    )


def _calls(function: FunctionLines, line: Line, other: FunctionLines) -> bool:
    alike = other.how is function.how and other.process == function.process
    return other is not function and alike and f"{other.name}(" in (line.source or "")
