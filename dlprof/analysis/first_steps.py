"""When the first step of a loop of the script's own began, by sampled stacks: no event of an engine tells that.

A step without a loader ends with an update of the weights; the next one begins there, and nothing tells when the first
one did. What is known before it may have been long ago: an optimiser is made, then data are. Where samples show the
program elsewhere than in the loop, the step had not begun.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dlprof.analysis import source_loops

_OWN_LOOPS = 2
"""Loops around an update that are a training's: of its batches and of its epochs."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
LEAST_NS = 50_000_000
"""What a first step takes longer than those behind it, at least, that it is looked at: a sample or more."""


@dataclass(frozen=True)
class First:
    """The first step of a loop.

    Attributes:
        loop_id: Number of the loop's span.
        thread: Number of its thread.
        file, line: Where the loop is.
        start_ns, end_ns: Of the step, as far as events tell (ns on the run's timeline).
        usual_ns: Median of the steps behind it (ns).
    """

    loop_id: int
    thread: int
    file: str
    line: int
    start_ns: int
    end_ns: int
    usual_ns: int


def lines_of(texts: Sequence[str], line: int) -> range | None:
    """Lines of the loop that begins at a line, and of the one around it in the same function; None: none is there."""
    tree = source_loops.parsed(texts)
    around = [] if tree is None else _around(tree, line, [])
    if not around:
        return None
    outer = around[-_OWN_LOOPS:][0]
    return range(outer.lineno, (outer.end_lineno or outer.lineno) + 1)


def _around(node: ast.AST, line: int, loops: list[ast.stmt]) -> list[ast.stmt]:
    """The loop of that line and those around it, outermost first; none where it is not below a node."""
    for child in ast.iter_child_nodes(node):
        inside = [] if isinstance(child, _FUNCTIONS) else loops
        if isinstance(child, _LOOPS):
            inside = [*loops, child]
            if child.lineno == line:
                return inside
        found = _around(child, line, inside)
        if found:
            return found
    return []


class Places:
    """Which stacks are in a loop.

    Args:
        frames: Table `frames`.
    """

    def __init__(self, frames: pa.Table) -> None:
        self._stacks: dict[int, list[tuple[str, int]]] = {}
        self._roots: dict[int, tuple[str, str]] = {}
        for row in frames.select(["stack_id", "depth", "function", "file", "line"]).to_pylist():
            self._stacks.setdefault(row["stack_id"], []).append((row["file"], row["line"]))
            if row["depth"] == 0:
                self._roots[row["stack_id"]] = row["function"], row["file"]

    def are_in(self, file: str, lines: range) -> set[int]:
        """Stacks of which a frame is at one of these lines."""
        return {one for one, frames in self._stacks.items() if any(at == file and n in lines for at, n in frames)}

    def whole(self, stacks: Iterable[int]) -> set[int]:
        """Those of some stacks that begin where most of them do: others were read in part."""
        known = [one for one in stacks if one in self._roots]
        usual = Counter(self._roots[one] for one in known).most_common(1)
        return {one for one in known if self._roots[one] == usual[0][0]} if usual else set()


def begin_ns(
    first: First,
    rows: Sequence[Mapping[str, int]],
    inside: set[int],
    whole: set[int],
    compiled: Sequence[tuple[int, int]] = (),
) -> int:
    """When a first step began (ns), as far as samples tell: where none is in its loop, it took as long as others do.

    A stretch ends where the next sample shows another stack, as in all that is told by stacks: the lines of a loop and
    the time of its steps are to agree.

    Args:
        first: The step.
        rows: Stretches of the loop's thread in order: `start_ns`, `dur_ns` and `stack_id`.
        inside: Stacks that are in the loop.
        whole: Stacks that were read as a whole.
        compiled: When graphs were compiled on that thread (begin and end, ns): what no sample elsewhere followed is a
            part of the step.
    """
    latest = first.end_ns - min(first.usual_ns, first.end_ns - first.start_ns)
    elsewhere = [
        (row["start_ns"], row["start_ns"] + row["dur_ns"])
        for row in rows
        if row["stack_id"] not in inside and row["stack_id"] in whole and row["start_ns"] < latest
    ]
    seen = max((start for start, _ in elsewhere), default=first.start_ns)
    latest = min([latest, *(start for start, end in compiled if seen < start and end <= first.end_ns)])
    return max([first.start_ns, *(min(end, latest) for _, end in elsewhere)])
