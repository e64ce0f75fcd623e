"""Which functions of a file use which, by its source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> dict[str, Function]:
    """The functions of a file by name, those within others too; of several of one name the last."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}


def names(node: ast.AST) -> set[str]:
    """Names that are used somewhere below a node: `f` and the `f` of `self.f`."""
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    return read | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def reached(begin: Iterable[str], known: Mapping[str, Function]) -> set[str]:
    """Functions that these use, by whatever way, and these themselves."""
    found: set[str] = set()
    waiting = [name for name in begin if name in known]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [used for used in names(known[name]) if used in known]
    return found


def called(call: ast.Call) -> str:
    """The last part of the name of what is called; empty where it has none."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
