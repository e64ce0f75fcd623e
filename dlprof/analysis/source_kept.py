"""Where objects of a class keep what they have made, so as not to make it again, by the source of a file.

`if i not in self.cache: self.cache[i] = self.read(i)`: a place that is filled by a key, and asked for by keys before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlprof.analysis.source_calls import Function, Functions
from dlprof.analysis.source_loops import parsed

_CACHES = frozenset({"cache", "cached", "lru_cache", "memoize"})
_ASKS = "__getitem__"


def line_of(texts: Sequence[str], name: str) -> int | None:
    """The line where a class keeps what it makes when it is asked for an item.

    Args:
        texts: The lines of the file.
        name: The class.

    Returns:
        None: it keeps nothing, there is no such class, or the text is no Python.
    """
    tree = parsed(texts) or ast.Module([], [])
    made = next((one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == name), None)
    if made is None:
        return None
    functions = Functions(ast.Module([made, *(one for one in tree.body if isinstance(one, Function))], []))
    reached = [functions.by_name[one] for one in sorted(functions.reached([_ASKS]))]
    return min((line for function in reached for line in _kept(function)), default=None)


def _kept(function: Function) -> Iterator[int]:
    """Lines of a function that keep what is asked for again in it, by a key."""
    if any(_is_cache(one) for one in function.decorator_list):
        yield function.lineno
    asked = set(_asked(function))
    for node in ast.walk(function):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
                place = ast.dump(target.value)
                if place in asked:
                    yield target.lineno


def _asked(function: Function) -> Iterator[str]:
    """Places of which a function asks whether they hold a key, or what they hold for it."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            yield ast.dump(node.comparators[0])
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            if isinstance(node.left, ast.Subscript):
                yield ast.dump(node.left.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            yield ast.dump(node.func.value)
        elif isinstance(node, ast.Try):
            for one in (inner for statement in node.body for inner in ast.walk(statement)):
                if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load):
                    yield ast.dump(one.value)


def _is_cache(decorator: ast.expr) -> bool:
    found = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (found.attr if isinstance(found, ast.Attribute) else getattr(found, "id", "")) in _CACHES
