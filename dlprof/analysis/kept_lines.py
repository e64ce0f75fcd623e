"""Lines of the user's that keep something each time they run: where memory that grows with the steps may go.

Read from the source (a list that is appended to, a dictionary that is filled, a sum that holds its graphs, a hook or a
compiled function that is made anew), and from how often each line ran. That a line keeps what grew is not measured.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from dlprof.store.run import Run

_ADDING = frozenset({"append", "appendleft", "extend", "insert", "add", "put", "put_nowait", "setdefault"})
_HOOKING = ("register_hook", "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook")
_MAKING = frozenset({"jit", "pmap", "function", "clone_model", "Sequential", "Model"})
"""Calls that make a compiled function or a model: engines keep what they made of these."""
_JOINING = frozenset({"concatenate", "append", "vstack", "hstack", "concat", "cat", "stack"})
_NUMBERS = frozenset({"float", "int", "len", "item", "tolist", "numpy", "asnumpy", "detach", "mean", "sum"})
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "get", "get_nowait", "remove"})
_OF_CALLBACKS = "on_"
"""How methods of callbacks begin."""
_LEAST_HITS = 8
_OF_STEPS = 0.2
"""A line that ran for fewer of the steps may keep something of each epoch; those of steps come first."""


@dataclass(frozen=True)
class KeptLine:
    """A line that keeps something.

    Attributes:
        file, line: Which.
        source: Its text.
        hits: How often it ran; None: it was not counted, because a library called it.
        what: How it keeps it, as a clause.
    """

    file: str
    line: int
    source: str
    hits: int | None
    what: str


@dataclass(frozen=True)
class _Keeping:
    """A statement that keeps: in which container (its text), or None; how."""

    line: int
    container: str | None
    what: str


def of_run(run: Run, steps: int) -> tuple[KeptLine, ...]:
    """Such lines of a run, the likeliest first: those that ran about once a step.

    Args:
        run: The run.
        steps: Training steps of the run.
    """
    files: dict[str, dict[int, int | None]] = {}
    for row in run.rows("lines"):
        hits = files.setdefault(row["file"], {})
        # A line that begins a function has a row for each of the two; hits of one that was only sampled are null.
        hits[row["line"]] = max((one for one in (hits.get(row["line"]), row["hits"]) if one is not None), default=None)
    found = [one for file, hits in files.items() for one in _in_file(file, run.folder.source_lines(file), hits)]
    return tuple(sorted(found, key=lambda one: _rank(one, steps)))


def _rank(line: KeptLine, steps: int) -> tuple[int, int]:
    """Lines that ran once for each step, and so were not counted by anybody else, come first."""
    if line.hits is None:
        return 1, line.line
    return (0 if line.hits >= _OF_STEPS * steps else 2), line.line


def _in_file(file: str, texts: list[str], known: Mapping[int, int | None]) -> Iterator[KeptLine]:
    try:
        tree = ast.parse("\n".join(texts))
    except (SyntaxError, ValueError):
        return
    emptied = set(_emptied(tree, {line for line, hits in known.items() if hits is not None and hits > 1}))
    for one, by_library in _keeping(tree):
        hits = known.get(one.line)
        has_run = hits >= _LEAST_HITS if hits is not None else one.line in known or by_library
        if has_run and (one.container is None or one.container not in emptied):
            yield KeptLine(file, one.line, texts[one.line - 1].strip(), hits, one.what)


def _keeping(tree: ast.AST) -> Iterator[tuple[_Keeping, bool]]:
    """Statements that keep something, inside of loops and functions: what runs once keeps little.

    Each with whether it is in a method of a callback: a library runs that, and its lines may not be counted.
    """
    told: dict[int, tuple[_Keeping, bool]] = {}
    for scope in ast.walk(tree):
        if isinstance(scope, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.AsyncFor)):
            by_library = isinstance(scope, ast.FunctionDef) and scope.name.startswith(_OF_CALLBACKS)
            for statement in ast.walk(scope):
                for one in _of_statement(statement) if isinstance(statement, ast.stmt) else ():
                    told[one.line] = one, by_library or told.get(one.line, (one, False))[1]
    yield from told.values()


def _of_statement(statement: ast.stmt) -> Iterator[_Keeping]:
    line = statement.lineno
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr in _ADDING:
            container = ast.unparse(function.value)
            yield _Keeping(line, container, f"adds to `{container}`")
        elif isinstance(function, ast.Attribute) and function.attr in _HOOKING:
            yield _Keeping(line, None, "registers one more hook")
    elif isinstance(statement, ast.Assign):
        yield from _of_assignment(statement)
    elif isinstance(statement, ast.AugAssign) and _may_hold(statement.value):
        container = ast.unparse(statement.target)
        yield _Keeping(line, container, f"adds to `{container}`")


def _of_assignment(statement: ast.Assign) -> Iterator[_Keeping]:
    line, value = statement.lineno, statement.value
    for target in statement.targets:
        if isinstance(target, ast.Subscript):
            container = ast.unparse(target.value)
            yield _Keeping(line, container, f"fills `{container}`")
        elif isinstance(target, ast.Attribute) and ast.unparse(value) == ast.unparse(target.value):
            yield _Keeping(line, None, f"makes `{ast.unparse(value)}` hold itself")
        elif isinstance(value, ast.Call):
            name = ast.unparse(target)
            given = {ast.unparse(part) for argument in value.args for part in ast.walk(argument)}
            if _called(value) in _JOINING and name in given:
                yield _Keeping(line, None, f"makes `{name}` longer")
            elif _called(value) in _MAKING:
                yield _Keeping(line, None, f"makes `{name}` anew")


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _may_hold(value: ast.expr) -> bool:
    """Whether what is added may be more than a number: a tensor with its graph, a list."""
    numbers = any(isinstance(one, ast.Call) and _called(one) in _NUMBERS for one in ast.walk(value))
    return not isinstance(value, ast.Constant) and not numbers


def _emptied(tree: ast.AST, again: Collection[int]) -> Iterator[str]:
    """Containers from which something is taken, or that begin anew each time.

    Args:
        tree: A file.
        again: Lines that ran more than once: a list that begins anew there is another one each time.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EMPTYING:
            yield ast.unparse(node.func.value)
        elif isinstance(node, ast.Delete):
            yield from (ast.unparse(one.value) for one in node.targets if isinstance(one, ast.Subscript))
        elif isinstance(node, ast.Assign) and node.lineno in again:
            yield from (ast.unparse(target) for target in node.targets if not isinstance(target, ast.Subscript))
