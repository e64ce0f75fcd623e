"""Reads the counts of the line profiler (`raw/lines.json`) into the table `lines`."""

from __future__ import annotations

import inspect
import json
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof import safe_files
from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own.counted_frames import Counting, Registered
from dlprof.ingest.own.source_outline import MODULE
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import LineSource

FORMAT = "dlprof.lines/1"
_ENOUGH = 3
"""Hits in windows that are scaled; of fewer it can hardly be told whether a line ran ten times or a thousand."""

_MANY = 1000
"""Hits in windows from which on two digits of what they stand for are told, else one: windows are few, and open when
the script lets another thread run."""


def read(path: Path, process: ProcessId, names: FileNames, source_of: Callable[[str], Sequence[str]]) -> pa.Table:
    """The table `lines`.

    Each function comes with all of its lines, those that never ran with 0 hits; of a module's own code
    only the lines that ran are given. Times are without what dlprof itself did while the program stood in the line.

    Args:
        path: What the in-process probe wrote.
        process: The process.
        names: How files are named in the tables.
        source_of: Function from an absolute file name to its lines (empty where it cannot be read).

    Raises:
        ArtifactError: The file is damaged or of another format.
    """
    try:
        content = json.loads(safe_files.read_text(path))
        if content["format"] != FORMAT:
            raise ArtifactError(f"format {content['format']}, expected {FORMAT}", path=path)
        unit = float(content["unit_ns"])
        functions = _whole_modules(content["functions"])
        rows = [row for function in functions for row in _rows(function, unit, names, source_of)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"no line counts: {error}", path=path) from error
    return pa.Table.from_pylist([{**process.columns, **row} for row in rows], schema=TABLES["lines"])


def _whole_modules(functions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The functions, with the code of a file as one: IPython compiles each statement of a cell by itself."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for function in functions:
        first = 1 if function["function"] == MODULE else function["first_line"]
        key = function["file"], function["function"], first
        whole = found.setdefault(key, {**function, "first_line": first, "lines": []})
        whole["lines"] = [*whole["lines"], *function["lines"]]
        if found[key].get("own") is not function.get("own"):
            whole["own"] = [*whole.get("own", ()), *function.get("own", ())]
        whole["thinned"] = bool(whole.get("thinned") or function.get("thinned"))
        if found[key].get("scaled") is not function.get("scaled"):
            whole["scaled"] = [*whole.get("scaled", ()), *function.get("scaled", ())]
    return list(found.values())


def files(path: Path) -> set[str]:
    """Absolute names of the source files that the counts speak of; empty where they cannot be read."""
    try:
        return {function["file"] for function in json.loads(safe_files.read_text(path))["functions"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def counting(path: Path, names: FileNames, on_threads: bool) -> Counting:
    """Which functions were to be counted, and where.

    Args:
        path: What the in-process probe wrote.
        names: How files are named in the tables.
        on_threads: Whether lines are counted on every thread, where the file does not say it: an older dlprof's.

    Raises:
        ArtifactError: The file is damaged.
    """
    try:
        content = json.loads(safe_files.read_text(path))
        functions = [_registered(one, names) for one in _whole_modules(content["functions"])]
        on_threads = bool(content.get("on_threads", on_threads))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"no line counts: {error}", path=path) from error
    return Counting({one.place: one for one in functions}, on_threads)


def _registered(function: dict[str, Any], names: FileNames) -> Registered:
    return Registered(
        file=names.short(function["file"]),
        name=function["function"],
        first_line=function["first_line"],
        ran=frozenset(line for line, hits, _ in [*function["lines"], *_scaled(function)] if hits),
        everywhere=bool(function.get("everywhere")),
        thinned=bool(function.get("thinned")),
    )


def _rows(
    function: dict[str, Any], unit: float, names: FileNames, source_of: Callable[[str], Sequence[str]]
) -> list[dict[str, Any]]:
    # Line 0 is where Python says that an empty module runs.
    counted: dict[int, tuple[int, int]] = {}
    for line, hits, ticks in [*function["lines"], *_scaled(function)]:
        if hits < 0 or ticks < 0:
            raise ValueError(f"line {line} ran {hits} times, for {ticks}")
        if line > 0:
            before = counted.get(line, (0, 0))
            counted[line] = before[0] + hits, before[1] + round(ticks * unit)
    if not any(hits for hits, _ in counted.values()):
        return []
    source = source_of(function["file"])
    first = function["first_line"]
    scaled = bool(function.get("thinned"))
    numbers = set(counted)
    known = _known(function)
    own = _own(function)
    met = {line: (hits, more) for line, hits, more, _ in _in_windows(function)}
    if function["function"] != MODULE:
        numbers.update(range(first, first + _block_length(source, first)))
    return [
        {
            "file": names.short(function["file"]),
            "function": function["function"],
            "first_line": first,
            "line": line,
            "hits": None if scaled and line not in known else _rounded(counted.get(line, (0, 0))[0], met.get(line)),
            "time_ns": max(0, counted.get(line, (0, 0))[1] - own.get(line, 0)),
            "source": source[line - 1].rstrip("\n") if line <= len(source) else None,
            "how": LineSource.SCALED if scaled else LineSource.EXACT,
        }
        for line in sorted(numbers)
    ]


def _own(function: dict[str, Any]) -> dict[int, int]:
    """What dlprof took in the counted time of a line (ns); of lines counted in windows no part is known to hold it."""
    own: dict[int, int] = {}
    for line, ns in () if function.get("thinned") else function.get("own", ()):
        if ns < 0:
            raise ValueError(f"dlprof took {ns} ns in line {line}")
        own[line] = own.get(line, 0) + ns
    return own


def _known(function: dict[str, Any]) -> set[int]:
    """Lines whose hits can be told though they were counted in windows: the others may have run between these.

    One that ran once before, and never in a window, is taken to be one that runs once.
    """
    in_windows = {line: hits for line, hits, _, _ in _in_windows(function)}
    once = {line for line, hits, _ in function["lines"] if hits == 1 and not in_windows.get(line)}
    return once | {line for line, hits in in_windows.items() if hits >= _ENOUGH}


def _rounded(hits: int, met: tuple[int, int] | None) -> int:
    """Hits to the digits that counting in windows can tell.

    Args:
        hits: Of a line, in and outside of windows.
        met: Of these, those that were counted in windows, and what they stand for; None: there were no windows.
    """
    if met is None or met[1] <= 0:
        return hits
    digits = 2 if met[0] >= _MANY else 1
    place = int("1" + "0" * max(0, len(str(met[1])) - digits))
    return max(1, round(hits / place)) * place


def _scaled(function: dict[str, Any]) -> list[tuple[int, int, float]]:
    """Line, hits and ticks of what was counted in windows, scaled to the time between them."""
    return [(line, hits, ticks) for line, _, hits, ticks in _in_windows(function)]


def _in_windows(function: dict[str, Any]) -> list[tuple[int, int, int, float]]:
    """Line, hits that were counted in windows, and hits and ticks scaled to the time between them.

    Until November 2026 the time between could be told as negative (a window that was ended twice): then it is not
    known how often the line ran.
    """
    rows = function.get("scaled", ())
    return [row if row[2] >= 0 and row[3] >= 0 else (row[0], min(row[1], _ENOUGH - 1), 0, 0.0) for row in rows]


def _block_length(source: Sequence[str], first: int) -> int:
    """How many lines the function that begins at line `first` has; 0 where it cannot be told."""
    try:
        return len(inspect.getblock([line + "\n" for line in source[first - 1 :]]))
    except (SyntaxError, IndexError, tokenize.TokenError):
        return 0
