"""Data that a script holds twice: a line that converts an array grew the process, and what it converted is still there.

Both are measured, as growth of the process's own memory while the main thread stood in a line, or in what it called;
which array became which is read from the names in the line. A source that is let go (`del`, or the same name is given
the copy) gives its memory back: then nothing is held twice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dlprof.analysis import memory_series, source_calls
from dlprof.analysis.columns import Integers
from dlprof.analysis.memory_places import Place, Places
from dlprof.analysis.memory_series import MemorySeries
from dlprof.store.run import Run

_STEP = ("start_ns", "dur_ns")
LEAST_BYTES = 96 << 20
"""A smaller copy is not worth a word."""
_LEAST_SOURCE = 0.4
"""Of the copy: the growth of the lines that made what was converted."""
_GIVEN_BACK = 0.5
"""Of the smaller of both: memory that comes down by so much later may be that of the source."""
_CONVERSIONS = frozenset(
    {
        "array", "asarray", "asanyarray", "ascontiguousarray", "stack", "vstack", "hstack", "concatenate",
        "astype", "copy", "tolist", "to_numpy", "tensor", "as_tensor", "FloatTensor", "DoubleTensor",
        "LongTensor", "constant", "convert_to_tensor", "from_tensor_slices", "from_tensors", "device_put",
        "to", "cast", "NDArray", "float", "double", "half",
    }
)  # fmt: skip
"""Names of functions and methods that make an array of another one, or of a list."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_LINES = 100_000
_GROWING = frozenset({"append", "extend", "insert"})


@dataclass(frozen=True)
class Copy:
    """An array that was made of another one which is still held.

    Attributes:
        file: The user's file.
        line: The line that converts.
        name: Name of what it converts.
        source_line: The line that made that.
        source_bytes: By how much memory grew while that was made (bytes).
        copy_bytes: By how much it grew while it was converted.
    """

    file: str
    line: int
    name: str
    source_line: int
    source_bytes: int
    copy_bytes: int


def of_run(run: Run) -> tuple[Copy, ...]:
    """The copies of a run, the largest first; none where memory or stacks were not sampled."""
    series = memory_series.of_run(run)
    if series is None:
        return ()
    places = Places(run)
    if places.is_empty:
        return ()
    grown = _Growth(series, places, _end_ns(run))
    found = [copy for file in grown.files for copy in _in_file(_text(run, file), file, grown)]
    return tuple(sorted(found, key=lambda copy: -copy.copy_bytes))


def _text(run: Run, file: str) -> Sequence[str]:
    """A file as it was when it ran: the copy that was kept, else the lines of it that are in the table."""
    kept = run.folder.source_lines(file)
    if kept:
        return kept
    known = {row["line"]: row["source"] for row in run.rows("lines") if row["file"] == file and row["source"]}
    last = max(known, default=0)
    return [str(known.get(number, "")).partition("\n")[0] for number in range(1, min(last, _MOST_LINES) + 1)]


def _end_ns(run: Run) -> int | None:
    """The end of the last step: what is given back behind it was held all the while; None: there are no steps."""
    ends = [pc.max(pc.add(piece["start_ns"], piece["dur_ns"])).as_py() for piece in run.pieces("steps", _STEP)]
    return max((end for end in ends if end is not None), default=None)


class _Growth:
    """By how much memory grew in lines, with what they called; and what became of it.

    Args:
        series: Memory over time.
        places: Who stood where.
        end_ns: Until when it is looked at; None: to the end.
    """

    def __init__(self, series: MemorySeries, places: Places, end_ns: int | None) -> None:
        inside = series.time_ns <= end_ns if end_ns is not None else np.ones(len(series), bool)
        self._own: Integers = series.own_bytes[inside]
        self._rows: dict[Place, list[int]] = {}
        stood = places.all_at(series.time_ns[inside])
        for row, lines in enumerate(stood):
            for place in dict.fromkeys(lines):
                self._rows.setdefault(place, []).append(row)
        self._last = stood[-1] if stood else ()
        self._change = np.diff(self._own, prepend=self._own[:1]) if len(self._own) else self._own

    @property
    def files(self) -> Sequence[str]:
        """Files of the user's own in which memory grew by what is worth a word."""
        large = (file for (file, _), rows in self._rows.items() if self._change[rows].clip(min=0).sum() >= LEAST_BYTES)
        return list(dict.fromkeys(large))

    def of(self, file: str, lines: Sequence[int]) -> int:
        """In some lines together (bytes)."""
        rows = sorted({row for line in lines for row in self._rows.get((file, line), ())})
        return int(self._change[rows].sum()) if rows else 0

    def ends_in(self, file: str, lines: Sequence[int]) -> bool:
        """Whether the main thread stands in one of some lines, or in what it calls, at the end."""
        return any(name == file and line in lines for name, line in self._last)

    def least_after(self, file: str, lines: Sequence[int]) -> int | None:
        """By how much memory came down, at the most, after the last of some lines ran (bytes); None: they did not."""
        rows = [row for line in lines for row in self._rows.get((file, line), ())]
        if not rows:
            return None
        last = max(rows)
        return int(self._own[last] - self._own[last:].min())


def _in_file(lines: Sequence[str], file: str, grown: _Growth) -> Iterator[Copy]:
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return
    for scope in _scopes(tree):
        # What a function made is gone when it returns.
        if scope is tree or grown.ends_in(file, source_calls.lines(scope)):
            yield from _in_scope(scope, file, grown)


def _in_scope(scope: ast.AST, file: str, grown: _Growth) -> Iterator[Copy]:
    statements = list(_statements(scope))
    for statement in statements:
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) else None
        size = grown.of(file, source_calls.lines(statement)) if value is not None else 0
        if value is None or size < LEAST_BYTES:
            continue
        copies = (_copy(file, statement, name, size, statements, grown) for name in _converted(value))
        copy = next((one for one in copies if one is not None), None)
        if copy is not None:
            yield copy


def _copy(
    file: str, statement: ast.stmt, name: str, size: int, statements: Sequence[ast.stmt], grown: _Growth
) -> Copy | None:
    """What became of a name that is converted; None: its memory was given back, or it was not much."""
    makers = [one for one in statements if one.lineno < statement.lineno and name in _made_by(one)]
    if not makers or any(one.lineno >= statement.lineno and name in _let_go_by(one) for one in statements):
        return None
    lines = [line for one in makers for line in source_calls.lines(one)]
    source = grown.of(file, lines)
    fallen = grown.least_after(file, source_calls.lines(statement))
    if source < _LEAST_SOURCE * size or fallen is None or fallen >= _GIVEN_BACK * min(source, size):
        return None
    largest = max(makers, key=lambda one: grown.of(file, source_calls.lines(one)))
    return Copy(file, statement.lineno, name, largest.lineno, source, size)


def _scopes(tree: ast.AST) -> Iterator[Any]:
    """The module and all functions in it."""
    yield tree
    yield from (one for one in ast.walk(tree) if isinstance(one, _FUNCTIONS))


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """Statements of a scope that hold no others, but not those of functions and classes in it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.stmt) and not hasattr(child, "body"):
            yield child
        elif not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield from _statements(child)


def _made_by(statement: ast.stmt) -> set[str]:
    """Names that a statement gives something to, or adds something to."""
    adding = _adding(statement)
    return _assigned(statement) | ({adding} if adding is not None else set())


def _let_go_by(statement: ast.stmt) -> set[str]:
    """Names that stand for something else, or for nothing, behind a statement."""
    if isinstance(statement, ast.Delete):
        return {one.id for target in statement.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return _assigned(statement) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else set()


def _assigned(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        targets = [statement.target] if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else []
    return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _adding(statement: ast.stmt) -> str | None:
    """The name of the list that a statement like `rows.append(x)` adds to."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) else None
    if isinstance(method, ast.Attribute) and method.attr in _GROWING and isinstance(method.value, ast.Name):
        return method.value.id
    return None


def _converted(value: ast.expr) -> Iterator[str]:
    """Names that are given to a conversion somewhere in an expression."""
    for call in ast.walk(value):
        if isinstance(call, ast.Call) and source_calls.called(call) in _CONVERSIONS:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            if isinstance(call.func, ast.Attribute):
                given.append(call.func.value)
            yield from (one.id for part in given for one in ast.walk(part) if isinstance(one, ast.Name))
