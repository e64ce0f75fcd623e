"""Where a file compares all pairs number by number: `((x[:, None] - y[None]) ** 2).sum(-1)`, and its like."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlprof.analysis import source_loops

_AXIS = frozenset({"unsqueeze", "expand_dims"})
_APART = frozenset({"abs", "absolute", "exp", "norm", "pow", "square"})
_TOGETHER = frozenset({"mean", "norm", "sum", "reduce_mean", "reduce_sum"})
_BEHIND = 3
"""Statements behind the difference that are looked at."""


def lines(texts: Sequence[str]) -> tuple[range, ...]:
    """The lines of each such comparison: of the difference, and of what makes one number of each pair.

    Both sides have another axis more than the other, or one has it before its last: `x - mean[:, None]`, which takes
    something off each row, is none. Empty for a text that is no Python.
    """
    tree = source_loops.parsed(texts)
    if tree is None:
        return ()
    bodies = (getattr(node, name, None) for node in ast.walk(tree) for name in ("body", "orelse"))
    return tuple(found for body in bodies if isinstance(body, list) for found in _of_body(body))


def _of_body(body: Sequence[ast.stmt]) -> Iterator[range]:
    for place, statement in enumerate(body):
        if isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef, ast.Try)):
            continue  # their bodies are looked at by themselves
        if not any(_is_of_pairs(node) for node in ast.walk(statement)):
            continue
        names, asked = _stored(statement), _called(statement)
        last = statement
        for later in body[place + 1 : place + 1 + _BEHIND]:
            if asked & _APART and asked & _TOGETHER:
                break
            if names & _loaded(later):
                asked |= _called(later)
                names |= _stored(later)
                last = later
        if asked & _APART and asked & _TOGETHER:
            yield range(statement.lineno, (last.end_lineno or last.lineno) + 1)


def _is_of_pairs(node: ast.AST) -> bool:
    """Whether it takes each row of one array from each of another."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return False
    left, right = _axis(node.left), _axis(node.right)
    if left and right:
        return left != right
    return _is_inner(node.left) or _is_inner(node.right)


def _axis(node: ast.expr) -> str:
    """Where an array is given one more axis; empty: nowhere."""
    if isinstance(node, ast.Subscript) and any(_is_new(one) for one in _parts(node)):
        return "".join("1" if _is_new(one) else "." for one in _parts(node))
    if isinstance(node, ast.Call) and _name(node.func) in _AXIS:
        return ast.dump(node.args[-1]) if node.args else ast.dump(node.keywords[-1].value) if node.keywords else ""
    return ""


def _is_inner(node: ast.expr) -> bool:
    """Whether the axis is before the array's last: `x[:, None, :]`."""
    parts = _parts(node) if isinstance(node, ast.Subscript) else []
    return any(_is_new(one) for one in parts[:-1]) and not _is_new(parts[-1])


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_new(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and node.value is None) or _name(node) == "newaxis"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _called(statement: ast.stmt) -> set[str]:
    """Functions that it calls; a power of two is one of them."""
    called = {_name(node.func) for node in ast.walk(statement) if isinstance(node, ast.Call)}
    powers = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) for node in ast.walk(statement))
    return called | ({"pow"} if powers else set())


def _stored(statement: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _loaded(statement: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
