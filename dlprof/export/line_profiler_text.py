"""Time of each line as `python -m line_profiler` prints it.

The unit is the nanosecond, and no count or time is shortened, so that the text says all that the run knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from dlprof.analysis import lines, processes, program
from dlprof.errors import NoInputError
from dlprof.schema.vocabulary import LineSource
from dlprof.store.run import Run
from dlprof.units import safe

_NAMES = ("Line #", "Hits", "Time", "Per Hit", "% Time")
_WIDTHS = (6, 9, 12, 8, 8)
_PER_HIT_CHARACTERS = 8


def write(run: Run, out: BinaryIO) -> str:
    """Write the text, the most expensive function first.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.

    Raises:
        NoInputError: The run has no times of lines.
        BadDataError: Their table is lost.
    """
    run.require("lines")
    found = lines.functions(run.table("lines"), processes.kinds(run, program.others(run)))
    if not found:
        raise NoInputError(f"{run.name} has no times of lines.", hint=f"dlprof report {run.typed} says why")
    functions = [function for function in found if function.how is LineSource.EXACT]
    sampled = [function for function in found if function.how is LineSource.SAMPLED]
    out.write(b"Timer unit: 1e-09 s\n\n")
    out.writelines("\n".join([*_function(function), "", ""]).encode("utf-8", "replace") for function in functions)
    if sampled:
        out.write("\n".join([*_not_counted(sampled), ""]).encode("utf-8", "replace"))
    counted = f"{len(functions)} function{'' if len(functions) == 1 else 's'}"
    return f"{counted}, and {len(sampled)} from samples" if sampled else counted


def _not_counted(functions: Sequence[lines.FunctionLines]) -> Iterator[str]:
    """Lines without hits, which line_profiler's table cannot hold: as a list behind the tables, with their errors."""
    yield "Lines that were not counted, with their time from samples:"
    for function in functions:
        for line in function.lines:
            time = f"{line.time_ns / 1e9:g} s +- {(line.error_ns or 0) / 1e9:.2g} s, seen {line.samples} times"
            place = f"{safe(function.file)}:{line.line} ({safe(function.function)})"
            place += f" in {safe(function.process)}" if function.process else ""
            yield f"  {place}: {time}: {_source(line).strip()}"


def _function(function: lines.FunctionLines) -> list[str]:
    rows = [_cells(line, function.total_ns) for line in function.lines]
    widths = [max(width, *(len(row[at]) for row in rows)) for at, width in enumerate(_WIDTHS)]
    header = _row(_NAMES, widths) + "  Line Contents"
    sources = [_source(line) for line in function.lines]
    return [
        f"Total time: {function.total_ns / 1e9:g} s",
        f"File: {safe(function.file)}",
        f"Function: {safe(function.function)} at line {function.first_line or function.lines[0].line}",
        "",
        header,
        "=" * len(header),
        *[f"{_row(row, widths)}  {source}" for row, source in zip(rows, sources, strict=True)],
    ]


def _source(line: lines.Line) -> str:
    """The line itself, on one line; tabs stay, as indentation is part of it."""
    return "\t".join(safe(part) for part in (line.source or "").split("\t"))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _cells(line: lines.Line, total_ns: int) -> tuple[str, ...]:
    """Line, hits, time, time per hit, share; a line that never ran has only its number."""
    hits, time_ns = line.hits, line.time_ns
    if not hits:
        return (str(line.line), "", "", "", "")
    per_hit = f"{time_ns / hits:5.1f}"
    if len(per_hit) > _PER_HIT_CHARACTERS:
        per_hit = f"{time_ns / hits:5.3g}"
    share = f"{100 * time_ns / total_ns:5.1f}" if total_ns else ""
    return (str(line.line), str(hits), f"{time_ns:5.1f}", per_hit, share)
