"""Which function a line of a source file belongs to, as Python names functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MODULE = "<module>"
_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Scope:
    """A piece of code that Python makes a frame for: a function, a class's body, a lambda, a comprehension.

    Attributes:
        name: Its qualified name.
        first_line: Where it begins, its decorators with it: `co_firstlineno`.
        last_line: Where it ends.
    """

    name: str
    first_line: int
    last_line: int


def plain(name: str) -> str:
    """The last part of a qualified name, which all of Python's versions tell."""
    return name.rpartition(".")[2]


class Outline:
    """The scopes of a source.

    Args:
        source: Its lines; none, or what this Python cannot parse, has no scopes but the module.
    """

    def __init__(self, source: Sequence[str]) -> None:
        self._scopes: dict[str, list[Scope]] = {}
        try:
            tree = ast.parse("\n".join(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for scope in _scopes(tree, ""):
            self._scopes.setdefault(plain(scope.name), []).append(scope)

    def at(self, line: int, function: str) -> Scope | None:
        """The innermost scope around a line whose frames are called `function`; None: there is none."""
        if function == MODULE:
            return Scope(MODULE, 1, line)
        around = (s for s in self._scopes.get(plain(function), ()) if s.first_line <= line <= s.last_line)
        return max(around, key=lambda scope: scope.first_line, default=None)


def _scopes(tree: ast.AST, around: str) -> Iterator[Scope]:
    """The scopes in a tree; one by one, not by recursion: nesting of expressions is as deep as the user likes."""
    waiting = [(tree, around)]
    while waiting:
        node, prefix = waiting.pop()
        inside = prefix
        name = _name(node)
        if name:
            qualified = prefix + name
            yield Scope(qualified, _first_line(node), getattr(node, "end_lineno", 0) or 0)
            inside = qualified + ("." if isinstance(node, ast.ClassDef) else ".<locals>.")
        waiting.extend((child, inside) for child in ast.iter_child_nodes(node))


def _name(node: ast.AST) -> str | None:
    if isinstance(node, _Named):
        return node.name
    return "<lambda>" if isinstance(node, ast.Lambda) else _COMPREHENSIONS.get(type(node))


def _first_line(node: ast.AST) -> int:
    lines: list[int] = [node.lineno] if isinstance(node, ast.expr | ast.stmt) else []
    lines += [one.lineno for one in getattr(node, "decorator_list", ())]
    return min(lines, default=1)
