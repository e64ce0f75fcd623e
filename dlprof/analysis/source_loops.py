"""The loops of a file, by its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BRACKETS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_JOINS = frozenset({"append", "cat", "concat", "concatenate", "hstack", "len", "print", "stack", "vstack"})
"""Functions that put what was computed beside what was there: they need it, what is computed does not."""
_FOR = re.compile(r"\bfor\b")


def has_for(text: str) -> bool:
    """Whether a line goes through something itself, as a statement or in brackets."""
    return _FOR.search(text) is not None


def around(texts: Sequence[str]) -> dict[int, int]:
    """Each line that is in a loop of its function, or of the file, to the line at which the innermost of these begins.

    Empty for a text that is no Python.
    """
    tree = parsed(texts)
    return {} if tree is None else dict(_lines(tree, None))


def run_once(texts: Sequence[str]) -> set[int]:
    """Lines of statements of a file that run once at most while it runs: in no loop, function, class or brackets.

    Empty for a text that is no Python.
    """
    tree = parsed(texts)
    if tree is None:
        return set()
    loops = around(texts)
    plain = (one for one in statements(tree.body) if not any(isinstance(node, _BRACKETS) for node in ast.walk(one)))
    return {line for one in plain for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)} - loops.keys()


def side_by_side(texts: Sequence[str]) -> dict[int, int]:
    """Each line of a loop, or of brackets with a `for`, whose turns need nothing of each other, to where that begins.

    Empty for a text that is no Python.
    """
    tree = parsed(texts)
    if tree is None:
        return {}
    loops, again = around(texts), recurrent(texts)
    apart = {line: loop for line, loop in loops.items() if line not in again}
    inside = (node for node in ast.walk(tree) if isinstance(node, _BRACKETS))
    return apart | {line: node.lineno for node in inside for line in _span(node)}


def parsed(texts: Sequence[str]) -> ast.Module | None:
    """The lines of a file as Python reads them; None: they are no Python, or nested deeper than it reads."""
    try:
        return ast.parse("\n".join(texts))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_recurrence(texts: Sequence[str], line: int) -> bool:
    """Whether the loop that begins at a line computes something out of what it had computed the time before.

    `h = cell(x[t], h)` is one, also where `both = cat((x[t], h))` stands between; sums, and lists that become longer,
    are none. False where no loop begins there.
    """
    loop = loop_at(texts, line)
    if loop is None:
        return False
    body = list(statements(loop.body))
    kept, made = {name for one in body for name in _names(one, ast.Store)}, set[str]()
    joined = set[str]()  # what was put together with something of the time before
    for statement in body:
        asked = {name for call in _calls(statement) for name in _names(call, ast.Load)}
        before, stored = kept - made, set(_names(statement, ast.Store))
        if asked & (before | joined):
            return True
        if _joins(statement) and (set(_names(statement, ast.Load)) & before) - stored:
            joined |= stored
        made |= stored
    return False


def recurrent(texts: Sequence[str]) -> dict[int, int]:
    """Each line that is in a loop whose turns need the one before, to where the innermost loop around it begins.

    Empty for a text that is no Python.
    """
    loops = around(texts)
    again = {loop for loop in set(loops.values()) if is_recurrence(texts, loop)}
    return {line: loop for line, loop in loops.items() if loop in again}


def open_ended(texts: Sequence[str], line: int) -> list[tuple[int, int]]:
    """Loops in the loop that begins at a line that end by what happens in them: by `break`, or as `while` does.

    Returns:
        list: The line at which each begins, and that of the first statement in it. Empty where no loop begins there.
    """
    loop = loop_at(texts, line)
    inside = [] if loop is None else [node for one in loop.body for node in ast.walk(one) if isinstance(node, _LOOPS)]
    return [(one.lineno, one.body[0].lineno) for one in inside if isinstance(one, ast.While) or _breaks(one)]


def _breaks(loop: ast.For | ast.AsyncFor) -> bool:
    """Whether a `break` ends it, rather than a loop in it."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break):
            return True
        if not isinstance(node, (*_LOOPS, *_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False


def loop_at(texts: Sequence[str], line: int) -> ast.For | ast.AsyncFor | ast.While | None:
    """The loop that begins at a line; None: none does."""
    nodes = ast.walk(parsed(texts) or ast.Module([], []))
    return next((node for node in nodes if isinstance(node, _LOOPS) and node.lineno == line), None)


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Simple statements, and those within others, in the order of the text; none of functions that are made."""
    for one in body:
        inside = [getattr(one, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(one, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if any(inside):
            for part in inside:
                yield from statements(part)
        else:
            yield one


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Calls, but for those that join."""
    return (node for node in ast.walk(statement) if isinstance(node, ast.Call) and not _is_join(node))


def _joins(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Call) and _is_join(node) for node in ast.walk(statement))


def _is_join(call: ast.Call) -> bool:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    return called in _JOINS


def _names(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    """Variables and attributes that are read or set, as they are written; none of counters nor of comprehensions."""
    if isinstance(node, ast.AugAssign) and not any(_calls(node)):
        return
    inner = {name.id for name in _targets_inside(node)}
    for one in ast.walk(node):
        if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, context):
            written = ast.unparse(one)
            if written not in inner:
                yield written


def _span(node: ast.expr) -> range:
    """The lines of an expression."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _targets_inside(node: ast.AST) -> Iterator[ast.Name]:
    for one in ast.walk(node):
        if isinstance(one, ast.comprehension):
            yield from (name for name in ast.walk(one.target) if isinstance(name, ast.Name))


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
