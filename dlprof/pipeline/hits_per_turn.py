"""How often lines run in each turn of a loop, by what was counted before lines were counted in windows.

A loop whose first turns were all counted tells how often a line below it runs in one of them. That is known better than
what a few windows have met of it: a window is half a millisecond, and lies in one line or in another.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from dlprof.analysis import source_loops
from dlprof.analysis.scaled_hits import OFF, significant
from dlprof.schema.vocabulary import LineSource

Line = tuple[str, int]
"""File, as in the tables, and number."""
_ENOUGH = 10
"""Times that a loop has turned, and that a line was counted in that, from which on they tell how often it runs."""
_DIGITS = 2
_NAME = re.compile(r"[^\W\d]\w*")
_DEFINES = re.compile(r"\s*(?:async\s+)?def\s+(\w+)")


def told(
    rows: Sequence[Mapping[str, Any]],
    counted: Mapping[Line, int],
    loops: Mapping[Line, tuple[int, Collection[Line]]],
    source_of: Callable[[str], Sequence[str]],
    *,
    few_windows: bool,
) -> dict[Line, int]:
    """Hits of lines that run only below a loop, to two digits.

    Args:
        rows: Rows of the table `lines`.
        counted: Hits that were counted outside of windows.
        loops: Loops by where they begin: turns of the run, and lines of the body that run once in each.
        source_of: Function from a file to its lines.
        few_windows: Whether windows were too few to speak against that.
    """
    found: dict[Line, int] = {}
    called, functions = _called(rows), _functions(rows)
    scaled = {(row["file"], row["line"]): row["hits"] for row in rows if row["how"] == LineSource.SCALED}
    for head, (turns, each) in loops.items():
        before = max((counted.get(line, 0) for line in each), default=0)
        if before < _ENOUGH:
            continue
        for line in _below(head, source_of(head[0]), called, functions):
            hits = counted.get(line, 0)
            if line in scaled and line not in each and hits >= _ENOUGH:
                all_ = hits * turns / before
                if few_windows or _fits(all_, scaled[line]):
                    found[line] = significant(all_, _DIGITS)
    return found


def _fits(hits: float, scaled: int | None) -> bool:
    """Whether windows, which may be so far off, do not speak against it: later turns may run a line more often."""
    return not scaled or scaled / OFF <= hits <= scaled * OFF


def _functions(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Line]]:
    """Lines of each function that has a name of its own among those that were counted."""
    places: dict[str, set[tuple[str, int]]] = defaultdict(set)
    lines: dict[str, list[Line]] = defaultdict(list)
    for row in rows:
        name = row["function"].rpartition(".")[2]
        places[name].add((row["file"], row["first_line"] or 0))
        lines[name].append((row["file"], row["line"]))
    return {name: found for name, found in lines.items() if len(places[name]) == 1 and name.isidentifier()}


def _called(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, set[Line]]:
    """Names to the lines that have them, but for those that define a function of the name."""
    found: dict[str, set[Line]] = defaultdict(set)
    for row in rows:
        text = row["source"] or ""
        defines = _DEFINES.match(text)
        for name in _NAME.findall(text):
            if defines is None or name != defines[1]:
                found[name].add((row["file"], row["line"]))
    return found


def _below(
    head: Line, source: Sequence[str], called: Mapping[str, set[Line]], functions: Mapping[str, Sequence[Line]]
) -> Iterator[Line]:
    """Lines of a loop's body, and of functions that are named there, or in each other, and nowhere else."""
    loop = source_loops.loop_at(source, head[1])
    if loop is None:
        return
    inside = {(head[0], line) for line in range(loop.body[0].lineno, (loop.body[-1].end_lineno or 0) + 1)}
    left = {name: lines for name, lines in functions.items() if called.get(name)}
    while below := [name for name in left if called[name] <= inside]:
        for name in below:
            inside.update(left.pop(name))
    yield from inside
