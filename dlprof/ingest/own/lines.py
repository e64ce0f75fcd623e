"""Reads the counts of the line profiler (`raw/lines.json`) into the table `lines`."""

from __future__ import annotations

import inspect
import json
import tokenize
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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

_FEW_WINDOWS = 6
"""Windows, each of half a millisecond, of which fewer do not tell what the time between them was like."""
_MANY_WINDOWS = 30
"""Windows from which on two digits of what was met in them may be told."""
_REST = 0.1
"""Share of a line's hits that windows may stand for all the same: how many these are hardly matters."""


@dataclass(frozen=True)
class Outside:
    """What was counted outside of windows.

    Attributes:
        hits: Of each line, by file as in the tables and number.
        has_few_windows: Whether windows are too few to tell anything by themselves.
    """

    hits: Mapping[tuple[str, int], int]
    has_few_windows: bool


def outside_of_windows(path: Path, names: FileNames) -> Outside:
    """What was counted outside of windows, out of what the in-process probe wrote.

    Raises:
        ArtifactError: The file is damaged.
    """
    hits: Counter[tuple[str, int]] = Counter()
    try:
        content = json.loads(safe_files.read_text(path))
        for function in _whole_modules(content["functions"]):
            for line, count, _ in function["lines"]:
                hits[names.short(function["file"]), line] += count
        return Outside(hits, _has_few_windows(content))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArtifactError(f"no line counts: {error}", path=path) from error


def _has_few_windows(content: Mapping[str, Any]) -> bool:
    windows = _windows(content)
    return windows is not None and windows < _FEW_WINDOWS


def _windows(content: Mapping[str, Any]) -> int | None:
    """In how many windows lines were counted; None: it is not told."""
    windows = (content.get("thinned") or {}).get("windows")
    return None if windows is None else int(windows)


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
        windows = _windows(content)
        rows = [row for function in functions for row in _rows(function, unit, names, source_of, windows)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
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
    function: dict[str, Any],
    unit: float,
    names: FileNames,
    source_of: Callable[[str], Sequence[str]],
    windows: int | None = None,
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
    known = _known(function, few_windows=windows is not None and windows < _FEW_WINDOWS)
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
            "hits": None
            if scaled and line not in known
            else _rounded(counted.get(line, (0, 0))[0], met.get(line), windows),
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


def _known(function: dict[str, Any], *, few_windows: bool) -> set[int]:
    """Lines whose hits can be told though they were counted in windows: the others may have run between these.

    One that ran once before, and never in a window, is taken to be one that runs once. Few windows tell of a line only
    that it ran a little more than it was counted before.
    """
    before = {line: hits for line, hits, _ in function["lines"]}
    in_windows = {line: (hits, more) for line, hits, more, _ in _in_windows(function)}
    once = {line for line, hits in before.items() if hits == 1 and not in_windows.get(line, (0, 0))[0]}
    return once | {
        line
        for line, (hits, more) in in_windows.items()
        if hits >= _ENOUGH and (not few_windows or more <= _REST * before.get(line, 0))
    }


def _rounded(hits: int, met: tuple[int, int] | None, windows: int | None) -> int:
    """Hits to the digits that counting in windows can tell.

    Args:
        hits: Of a line, in and outside of windows.
        met: Of these, those that were counted in windows, and what they stand for; None: there were no windows.
        windows: How many there were; None: not told.
    """
    if met is None or met[1] <= 0:
        return hits
    digits = 2 if met[0] >= _MANY and (windows is None or windows >= _MANY_WINDOWS) else 1
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
