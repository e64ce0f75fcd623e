"""Which functions of a file use which, by its source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Functions:
    """The functions of a file, those within others too; of several of one name the last.

    Attributes:
        tree: The file.
    """

    tree: ast.Module

    @cached_property
    def by_name(self) -> Mapping[str, Function]:
        """They."""
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, Function)}

    @cached_property
    def uses(self) -> Mapping[str, AbstractSet[str]]:
        """Functions of the file that each of them names."""
        return {name: names(node) & self.by_name.keys() for name, node in self.by_name.items()}

    @cached_property
    def used_outside(self) -> AbstractSet[str]:
        """Those that the file itself names, outside of functions."""
        statements = [node for node in self.tree.body if not isinstance(node, Function | ast.ClassDef)]
        return {name for node in statements for name in names(node)} & self.by_name.keys()

    def reached(self, begin: Iterable[str]) -> set[str]:
        """Functions that these use, by whatever way, and these themselves."""
        found: set[str] = set()
        waiting = [name for name in begin if name in self.by_name]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.uses[name]
        return found


def names(node: ast.AST) -> set[str]:
    """Names that are read somewhere below a node, and what is read of `self`.

    An attribute of anything else is no function of this file: the `step` of `env.step` is another one.
    """
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            found.add(one.id)
        elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
            found.add(one.attr)
    return found


def called(call: ast.Call) -> str:
    """The last part of the name of what is called; empty where it has none."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def lines(node: Any) -> range:
    """Numbers of the lines that a statement, an expression or a function stands in."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
