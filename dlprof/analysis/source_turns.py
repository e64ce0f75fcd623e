"""Lines of a loop that run once with each update of the weights, by its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from dlprof.analysis import source_loops

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_WITH = (ast.With, ast.AsyncWith)
_PLAIN = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Assert, ast.If)
"""Statements that Python begins once, where they run: the head of a `with` runs on its way out again."""
_INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""What turns by itself within a line: some versions of Python count each turn as a run of the line."""
_UPDATE = re.compile(r"step|update|appl(y|ied)|minimi[sz]e|optimi[sz]e|train|learn|run|fit")
"""Parts of the names of functions that may change weights."""


def of_each_update(texts: Sequence[str], line: int) -> set[int]:
    """Lines that run exactly as often as the loop that begins at a line updates weights, if each does that once a turn.

    These are single lines that stand in the loop's own body, or in a `with` of it, and beside what seems to update:
    between the two nothing leaves the turn. Empty where an update may hang on a condition, or have turns of its own.
    """
    loop = source_loops.loop_at(texts, line)
    if loop is None or any(_leaves(node) for node in _within(loop.orelse)):
        return set()
    parts = list(_parts(loop.body))
    updating = [part for part in parts if any(_updates(one) for one in part)]
    if len(updating) != 1 or any(_hides_update(one) for part in parts for one in part):
        return set()
    return {one.lineno for one in updating[0] if _is_counted_once(one)}


def _parts(body: Iterable[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements that run in each turn, cut where a turn may end; a statement that may end it closes its part."""
    part: list[ast.stmt] = []
    for one in _unconditional(body):
        part.append(one)
        if any(_leaves(node) for node in _within([one])):
            yield part
            part = []
    yield part


def _unconditional(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for one in body:
        if isinstance(one, _WITH):
            yield one
            yield from _unconditional(one.body)
        else:
            yield one


def _within(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Statements and expressions that may run there, none of functions that are made."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            waiting += ast.iter_child_nodes(node)


def _leaves(node: ast.AST) -> bool:
    # A `break` of a loop in it leaves only that; it is taken for one that ends the turn: so fewer lines are known.
    return isinstance(node, (ast.Break, ast.Continue, ast.Return, ast.Raise))


def _updates(statement: ast.stmt) -> bool:
    """Whether a plain statement calls what may change weights."""
    return isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)) and _may_update(statement)


def _hides_update(statement: ast.stmt) -> bool:
    """Whether what may change weights stands below a condition, a loop or a `try`."""
    if isinstance(statement, (*_WITH, *_FUNCTIONS)):
        return False
    blocks = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.expr)]
    compound = isinstance(statement, (ast.If, *_LOOPS, ast.Try, ast.Match))
    return compound and any(_may_update(child) for child in blocks)


def _may_update(tree: ast.AST) -> bool:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(_UPDATE.search(_called(call).lower()) for call in calls)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_counted_once(statement: ast.stmt) -> bool:
    if not isinstance(statement, _PLAIN):
        return False
    head = statement.test if isinstance(statement, ast.If) else statement
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    is_note = isinstance(statement, ast.AnnAssign) and statement.value is None
    turns = any(isinstance(node, _INNER) for node in ast.walk(head))
    return not (is_text or is_note or turns) and head.end_lineno == statement.lineno
