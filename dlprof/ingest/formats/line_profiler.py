"""Reads the files of line_profiler: what it prints, and its pickles (`.lprof`), without running what is in them."""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import re
import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.packed import opened
from dlprof.ingest.parse.text_files import NS_AT_MOST, as_ns, each_line, number_in, whole_in
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import LineSource

LINE_AT_MOST = (1 << 31) - 1
UNKNOWN = "?"
_UNIT = re.compile(r"Timer unit: (\S+) s\s*$")
_TOTAL = re.compile(r"Total time: (\S+) s\s*$")
_FILE = re.compile(r"(?:File:|Could not find file) (.+)")
_FUNCTION = re.compile(r"Function: (.+) at line [0-9]+\s*$")
_HEADER = re.compile(r"^Line #\s+Hits\s+Time\s+Per Hit\s+% Time\s+Line Contents", re.MULTILINE)
_LINE = re.compile(r"\s*([0-9]+)")
_COUNTED = re.compile(r"\s*[0-9]+\s+(\S+)\s+(\S+)\s+\S+\s+[0-9.]+(?:  (.*))?\s*")
_MODULE = re.compile(r"_?line_profiler(?:\.\w+)*")

_TEXTS = frozenset(("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINSTRING", "SHORT_BINSTRING"))
_SCALARS = _TEXTS | {"NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"}
_PUTS, _GETS = frozenset(("BINPUT", "LONG_BINPUT", "MEMOIZE")), frozenset(("BINGET", "LONG_BINGET"))
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_OTHERS = frozenset((
    "EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT", "MARK", "APPEND", "APPENDS", "SETITEM", "SETITEMS",
    "GLOBAL", "STACK_GLOBAL", "NEWOBJ", "BUILD", "STOP",
))  # fmt: skip


def claims(sample: Sample) -> bool:
    """Whether the file is of line_profiler."""
    if sample.head.startswith(b"\x80"):
        return b"LineStats" in sample.head
    text = sample.text
    return "Timer unit: " in text and bool(_HEADER.search(text))


def read(path: Path) -> FileContent:
    """The table `lines`.

    Raises:
        ArtifactError: The file is damaged, or a pickle of something else.
    """
    try:
        with opened(path) as source:
            content = source.read(1)
            if content == b"\x80":
                content += source.read(budget().limits.piece_bytes)
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    if content[:1] != b"\x80":
        reading = _Reading()
        each_line(path, reading.line)
        return _content(path, reading.functions, reading.unit_s)
    if len(content) > budget().limits.piece_bytes:
        raise budget().exceeded(f"a pickle of more than {budget().limits.piece_bytes >> 20} MiB")
    return _of_pickle(path, content)


@dataclass
class _Function:
    """Counts of one function: (line, hits, ns, source) each."""

    file: str
    name: str
    total_s: float | None
    first_line: int | None = None
    rows: list[tuple[int, int, int, str | None]] = field(default_factory=list)


def _content(path: Path, functions: Sequence[_Function], unit_s: Decimal | float | None) -> FileContent:
    if unit_s is None or not functions:
        raise ArtifactError("there are no counts of lines in it: no function that ran had @profile", path=path)
    try:
        table = pa.table(_columns(functions), schema=TABLES["lines"])
    except (pa.ArrowException, ValueError, OverflowError, TypeError) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    totals = [function.total_s for function in functions]
    facts = {"functions": len(functions), "unit_s": float(unit_s), "total_times_s": totals}
    return FileContent("line-profiler", tables={"lines": table}, facts=facts)


def _columns(functions: Sequence[_Function]) -> dict[str, list[Any]]:
    counts = [len(function.rows) for function in functions]
    of_function = {
        "host": "", "rank": 0, "pid": 0, "how": LineSource.EXACT,
        "file": [function.file for function in functions],
        "function": [function.name for function in functions],
        "first_line": [function.first_line for function in functions],
    }  # fmt: skip
    columns: dict[str, list[Any]] = {
        name: [v for v, n in zip(value, counts, strict=True) for _ in range(n)]
        if isinstance(value, list)
        else [value] * sum(counts)
        for name, value in of_function.items()
    }
    for at, name in enumerate(("line", "hits", "time_ns", "source")):
        columns[name] = [row[at] for function in functions for row in function.rows]
    return {name: columns.get(name, [None] * sum(counts)) for name in TABLES["lines"].names}


class _Reading:
    """A printed file as its lines are read: what is said above a table belongs to it."""

    def __init__(self) -> None:
        self.unit_s: Decimal | None = None
        self.functions: list[_Function] = []
        self._file, self._name = "", ""
        self._total_s: float | None = None
        self._source_at = 0
        self._open: _Function | None = None

    def line(self, text: str) -> None:
        """Take the next line."""
        if _HEADER.match(text):
            self._begin(text)
        elif self._open is None:
            self._say(text)
        elif not text.strip():
            self._end(self._open)
        elif set(text.strip()) != {"="}:
            self._row(self._open, text)

    def _say(self, text: str) -> None:
        if match := _UNIT.match(text):
            self.unit_s = number_in(match[1])
        elif match := _TOTAL.match(text):
            self._total_s = float(number_in(match[1]))
        elif match := _FILE.match(text):
            self._file = match[1].strip()
        elif match := _FUNCTION.match(text):
            self._name = match[1]

    def _begin(self, text: str) -> None:
        self._source_at = text.index("Line Contents")
        name = self._name or f"function {len(self.functions) + 1}"
        self._open = _Function(self._file or UNKNOWN, name, self._total_s)
        self.functions.append(self._open)
        self._file, self._name, self._total_s = "", "", None

    def _end(self, function: _Function) -> None:
        self._open = None
        if not any(source for _, _, _, source in function.rows):
            function.rows = [(*row[:3], None) for row in function.rows]

    def _row(self, function: _Function, text: str) -> None:
        first = _LINE.match(text)
        if not first or whole_in(first[1]) > LINE_AT_MOST:
            raise ValueError("not a row of the table")
        line, hits, time_ns, source = int(first[1]), 0, 0, text[self._source_at :]
        if text[first.end() : self._source_at].strip():
            counted = _COUNTED.fullmatch(text)
            if not counted or self.unit_s is None:
                raise ValueError("not a row of the table" if not counted else "the unit of times is not said")
            hits, time_ns = as_ns(number_in(counted[1]), 1), as_ns(number_in(counted[2]), self.unit_s * 10**9)
            source = counted[3] or ""
        if function.first_line is None:
            function.first_line = line
        # An empty source is no source, until it is known whether the others of the function have one.
        budget().hold_texts(2, len(source), "lines")
        function.rows.append((line, hits, time_ns, source.rstrip()))


def _of_pickle(path: Path, content: bytes) -> FileContent:
    try:
        _check(content)
        state = vars(_Unpickler(io.BytesIO(content)).load())
        unit = _measure(state["unit"])
        functions = _functions(state["timings"], unit)
    except MemoryError as error:
        raise ArtifactError("the pickle does not fit into memory", path=path) from error
    except (pickle.UnpicklingError, EOFError, ArithmeticError, AttributeError, ImportError, LookupError) as error:
        raise ArtifactError(f"not a pickle of LineStats: {error}", path=path) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise ArtifactError(f"not a pickle of LineStats: {error}", path=path) from error
    return _content(path, functions, unit)


def _check(content: bytes) -> None:
    """See that there is nothing in a pickle but counts.

    Without this the unpickler could be made to fill the memory (numbers of the memo) or overflow its stack
    (hashes of nested tuples), even though it knows no harmful class.

    Raises:
        ValueError: There is.
    """
    recent: deque[bool] = deque(maxlen=3)  # whether the last things put on the stack are texts or numbers
    memo: dict[int, bool] = {}
    for code, value, at in pickletools.genops(content):
        name = code.name
        if name in _PUTS:
            number = len(memo) if value is None else int(value)
            if number > len(content):
                raise ValueError(f"byte {at}: memo {number}")
            memo[number] = bool(recent and recent[-1])
        elif name in _GETS:
            recent.append(memo.get(int(value or 0), False))
        elif name in _TUPLES:
            if not all(list(recent)[-_TUPLES[name] :]):
                raise ValueError(f"byte {at}: a tuple of something other than texts and numbers")
            recent.append(False)
        elif name in _SCALARS or name in _OTHERS:
            recent.append(name in _SCALARS)
        elif name not in ("PROTO", "FRAME"):
            raise ValueError(f"byte {at}: {name} has no place in counts of lines")


class _Unpickler(pickle.Unpickler):
    """Knows one class only, and that is an empty one."""

    def __init__(self, source: io.BytesIO) -> None:
        super().__init__(source, encoding="utf-8", errors="replace")  # for the texts of Python 2
        self._class = type("LineStats", (), {})

    def find_class(self, module: str, name: str) -> Any:
        """The stand-in for LineStats.

        Raises:
            pickle.UnpicklingError: Something else is asked for.
        """
        if name == "LineStats" and _MODULE.fullmatch(module):
            return self._class
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _functions(timings: dict[Any, Any], unit_s: float) -> list[_Function]:
    if not 0 < unit_s <= 1:
        raise ValueError(f"a unit of {unit_s} s")
    functions = []
    for (file, first, name), counts in timings.items():
        budget().hold_texts(2 * (1 + len(counts)), 0, "lines")
        if not 0 <= first <= LINE_AT_MOST:
            raise ValueError(f"line {first}: out of range")
        function = _Function(_text(file), _text(name), None, int(first))
        for line, hits, ticks in sorted(counts):
            time_ns = _measure(ticks) * unit_s * 1e9
            if time_ns > NS_AT_MOST or _measure(hits) > NS_AT_MOST or not 0 <= line <= LINE_AT_MOST:
                raise ValueError(f"line {line}: out of range")
            function.rows.append((int(line), int(hits), round(time_ns), None))
        function.total_s = sum(ticks for _, _, ticks in counts) * unit_s
        functions.append(function)
    return functions


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name that is no text")
    return value


def _measure(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{str(value)[:40]} is not a measure")
    return value


READER = Reader("line-profiler", "line_profiler (text, .lprof)", claims, read)
