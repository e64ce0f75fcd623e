"""How large what a script keeps can be, by its source: a number, a text, or a few of these, or something else.

`rows.append({"epoch": epoch, "loss": loss.item()})` keeps hundreds of bytes, `preds[epoch] = net(x)` anything. What is
not known to be small may be large.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dlprof.analysis.source_calls import Function, called

SMALL_BYTES = 1024
"""What is small takes no more than about this."""
_NUMBERS = frozenset({"float", "int", "bool", "len", "round", "hash", "id", "ord", "item", "numel", "qsize", "nbytes"})
_CLOCKS = frozenset({"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "process_time", "now"})
_OF_PARTS = frozenset({"dict", "list", "tuple", "sum", "min", "max", "abs", "str", "format", "copy", "items", "values"})
"""Small where all that they are given is, and what they are called on."""
_FIGURES = frozenset({"nbytes", "size", "shape", "ndim", "itemsize"})
_COUNTING = frozenset({"range", "enumerate"})
_GROWING = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "setdefault"})
_OF_CALLBACKS = frozenset({"epoch", "batch", "step", "logs"})
"""What Keras hands to methods of callbacks: numbers, and a dictionary of a few."""
_DEEPEST = 10
_Loop = ast.For | ast.AsyncFor | ast.comprehension


@dataclass(frozen=True)
class _Given:
    """A function, as far as its names go; None: the file itself."""

    function: Function | None
    body: ast.AST


class Sizes:
    """Looks at expressions of some files that use each other.

    Args:
        trees: The files.
    """

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self._functions: dict[str, list[Function]] = {}
        self._calls: dict[str, list[tuple[ast.Call, _Given]]] = {}
        self._scopes: dict[int, _Given] = {}
        self._trees = tuple(trees)  # kept, so that the numbers of their parts stay theirs
        for tree in self._trees:
            self._note(tree)

    def _note(self, tree: ast.Module) -> None:
        waiting: list[tuple[ast.AST, _Given]] = [(tree, _Given(None, tree))]
        while waiting:
            node, scope = waiting.pop()
            self._scopes[id(node)] = scope
            if isinstance(node, Function):
                self._functions.setdefault(node.name, []).append(node)
                scope = _Given(node, node)
            elif isinstance(node, ast.Call):
                self._calls.setdefault(called(node), []).append((node, scope))
            waiting += ((child, scope) for child in ast.iter_child_nodes(node))

    def is_small(self, value: ast.expr) -> bool:
        """Whether it is a number, a text, or a few of these, for all that the source tells."""
        scope = self._scopes.get(id(value))
        return scope is not None and self._is_small(value, scope, _DEEPEST)

    def _is_small(self, value: ast.expr, scope: _Given, deep: int) -> bool:
        if deep <= 0:
            return False
        parts = _parts(value)
        if parts is not None:
            return all(self._is_small(part, scope, deep - 1) for part in parts)
        if isinstance(value, ast.Call):
            return self._is_small_call(value, scope, deep)
        if isinstance(value, ast.Name):
            return self._is_small_name(value.id, scope, deep)
        return isinstance(value, ast.Attribute) and value.attr in _FIGURES

    def _is_small_call(self, call: ast.Call, scope: _Given, deep: int) -> bool:
        name = called(call)
        if name in _NUMBERS or (name in _CLOCKS and not call.args):
            return True
        if name in _OF_PARTS:
            on = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            given = (*on, *call.args, *(one.value for one in call.keywords))
            summed = name in ("sum", "min", "max")
            return all(self._is_small(part, scope, deep - 1) or (summed and self._is_of_small(part, scope, deep))
                       for part in given)  # fmt: skip
        made = self._functions.get(name, [])
        return bool(made) and isinstance(call.func, ast.Name) and all(self._gives_small(one, deep) for one in made)

    def _is_of_small(self, value: ast.expr, scope: _Given, deep: int) -> bool:
        """Whether it is a row of small things, however long."""
        return isinstance(value, ast.ListComp | ast.GeneratorExp) and self._is_small(value.elt, scope, deep - 1)

    def _gives_small(self, function: Function, deep: int) -> bool:
        own = _Given(function, function)
        given = [one.value for one in ast.walk(function) if isinstance(one, ast.Return) and one.value is not None]
        return bool(given) and all(self._is_small(one, own, deep - 1) for one in given)

    def _is_small_name(self, name: str, scope: _Given, deep: int) -> bool:
        """Of all that the name is given in its function, or else what it is called with."""
        values = list(_assigned(scope.body, name))
        if values:
            return all(one is not None and self._is_small(one, scope, deep - 1) for one in values)
        function = scope.function
        if function is None or name not in _arguments(function):
            return False
        if function.name.startswith("on_") and name in _OF_CALLBACKS:
            return True
        calls = self._calls.get(function.name, ())
        handed = [(one, whose) for call, whose in calls for one in _handed_in(call, function, name)]
        return bool(calls) and all(one is not None and self._is_small(one, whose, deep - 1) for one, whose in handed)


def _parts(value: ast.expr) -> Iterable[ast.expr] | None:
    """What an expression is as small as, if all of that is small; None: that is not how it is made."""
    if isinstance(value, ast.Constant):
        return ()
    if isinstance(value, ast.BinOp):
        both = (value.left, value.right)
        is_longer = isinstance(value.op, ast.Mult) and any(isinstance(one, ast.List | ast.Tuple) for one in both)
        return None if is_longer else both  # `[0] * 1000`
    if isinstance(value, ast.JoinedStr):
        put_in = (one for one in value.values if isinstance(one, ast.FormattedValue))
        return [one.value for one in put_in if one.format_spec is None]
    if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        return [one.iter for one in value.generators]
    if isinstance(value, ast.Dict):
        return [*(one for one in value.keys if one is not None), *value.values]
    return _fields(value)


def _fields(value: ast.expr) -> Iterable[ast.expr] | None:
    """Likewise, of what has its parts in a field or two."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return value.elts
    if isinstance(value, ast.Compare):
        return (value.left, *value.comparators)
    if isinstance(value, ast.BoolOp):
        return value.values
    if isinstance(value, ast.UnaryOp):
        return (value.operand,)
    if isinstance(value, ast.IfExp):
        return (value.body, value.orelse)
    return (value.value,) if isinstance(value, ast.Subscript | ast.Starred) else None


def _own(body: ast.AST) -> Iterator[ast.AST]:
    """All of a function or a file, without the functions in it."""
    for child in ast.iter_child_nodes(body):
        if not isinstance(child, Function | ast.ClassDef):
            yield child
            yield from _own(child)


def _assigned(body: ast.AST, name: str) -> Iterator[ast.expr | None]:
    """What a name is given, and what is put into what it names; None: something that its source does not tell."""
    for node in _own(body):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            longer = isinstance(node, ast.AugAssign) and _is_row(node.value)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if _is_given(target, name):
                    yield None if longer else node.value
                elif name in _names(target) or _base(target) == name:
                    yield None
        elif isinstance(node, _Loop) and name in _names(node.target):
            yield _counted(node, name)
        elif _is_untold(node, name):
            yield None


def _is_untold(node: ast.AST, name: str) -> bool:
    """Whether a name is given something by `with`, or what it names becomes longer."""
    if isinstance(node, ast.withitem):
        return node.optional_vars is not None and name in _names(node.optional_vars)
    return isinstance(node, ast.Call) and called(node) in _GROWING and _base(node.func) == name


def _is_given(target: ast.expr, name: str) -> bool:
    """Whether what is assigned is all that the name stands for, or one thing more in it, by a key that is written."""
    if isinstance(target, ast.Subscript):
        return _base(target) == name and isinstance(target.slice, ast.Constant)
    return isinstance(target, ast.Name) and target.id == name


def _base(target: ast.expr) -> str | None:
    """The `row` of `row[key]` and of `row.append`."""
    over = target.value if isinstance(target, ast.Subscript | ast.Attribute) else None
    return over.id if isinstance(over, ast.Name) else None


def _is_row(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Tuple | ast.ListComp)


def _counted(loop: ast.For | ast.AsyncFor | ast.comprehension, name: str) -> ast.expr | None:
    """What a loop gives a name: a number where it counts; its rows are not known."""
    over = loop.iter
    if not isinstance(over, ast.Call) or called(over) not in _COUNTING:
        return over if isinstance(over, ast.List | ast.Tuple) else None
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else loop.target
    is_number = called(over) == "range" or (isinstance(first, ast.Name) and first.id == name)
    return ast.Constant(0) if is_number else None


def _names(target: ast.AST) -> set[str]:
    """Names that are given something: not those of which only a part is."""
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _arguments(function: Function) -> Mapping[str, int]:
    """Names of what it is called with, and their places; `*rows` and `**more` have none, -1."""
    told = function.args
    plain = [one.arg for one in (*told.posonlyargs, *told.args)]
    more = [one.arg for one in (*told.kwonlyargs, told.vararg, told.kwarg) if one is not None]
    return {**dict.fromkeys(more, -1), **{name: place for place, name in enumerate(plain)}}


def _handed_in(call: ast.Call, function: Function, name: str) -> Iterator[ast.expr | None]:
    """What a call hands for an argument; nothing where the default holds."""
    arguments, known = function.args, _arguments(function)
    if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
        yield None
        return
    if arguments.vararg is not None and arguments.vararg.arg == name:
        yield None
    elif arguments.kwarg is not None and arguments.kwarg.arg == name:
        yield from (one.value for one in call.keywords if one.arg not in known)
    else:
        is_method = isinstance(call.func, ast.Attribute) and next(iter(known), "") in ("self", "cls")
        place = known[name] - is_method
        by_name = [one.value for one in call.keywords if one.arg == name]
        yield from by_name or (call.args[place : place + 1] if place >= 0 else [])
