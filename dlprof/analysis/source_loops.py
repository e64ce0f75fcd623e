"""The loops of a file, by its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def around(texts: Sequence[str]) -> dict[int, int]:
    """Each line that is in a loop of its function, or of the file, to the line at which the innermost of these begins.

    Empty for a text that is no Python.
    """
    try:
        tree = ast.parse("\n".join(texts))
    except (SyntaxError, ValueError):
        return {}
    return dict(_lines(tree, None))


def _lines(node: ast.AST, loop: int | None) -> Iterator[tuple[int, int]]:
    """Lines and their loops, those further in last."""
    if isinstance(node, _FUNCTIONS):
        loop = None
    for name, value in ast.iter_fields(node):
        inner = node.lineno if isinstance(node, _LOOPS) and name in ("body", "test") else loop
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                if inner is not None and isinstance(child, (ast.stmt, ast.expr)):
                    # A function that is made in a loop runs elsewhere: only its first line is the loop's.
                    end = child.lineno if isinstance(child, _FUNCTIONS) else child.end_lineno or child.lineno
                    yield from ((line, inner) for line in range(child.lineno, end + 1))
                yield from _lines(child, inner)
