"""Evaluations of PyTorch in a file's source: from `model.eval()` to the next `.train()`, or the end of its function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlprof.analysis import source_loops

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_GOES_BACK = ("backward", "grad")
"""Methods and functions that compute gradients."""


def of_file(texts: Sequence[str]) -> list[tuple[int, int]]:
    """First and last line of each evaluation in which no gradient is computed; empty for a text that is no Python."""
    tree = source_loops.parsed(texts)
    return [] if tree is None else list(_of_scope(tree, len(texts)))


def _of_scope(scope: ast.AST, last: int) -> Iterator[tuple[int, int]]:
    """Those of a function, or of what a file does itself, and of all functions inside."""
    nodes = list(_own(scope))
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    named = [(node.func.attr, node) for node in calls if isinstance(node.func, ast.Attribute)]
    loops = [node for node in nodes if isinstance(node, _LOOPS)]
    for name, node in named:
        if name != "eval" or node.args or node.keywords:
            continue
        begin = node.lineno
        around = [loop.end_lineno or last for loop in loops if loop.lineno <= begin <= (loop.end_lineno or last)]
        trains = [other.lineno for which, other in named if which == "train" and other.lineno > begin]
        end = min([*trains, *around, last])
        if not any(which in _GOES_BACK and begin <= other.lineno <= end for which, other in named):
            yield begin, end
    for inner in nodes:
        if isinstance(inner, _FUNCTIONS):
            yield from _of_scope(inner, inner.end_lineno or last)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one, without what is in functions inside."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _FUNCTIONS):
            yield from _own(node)
