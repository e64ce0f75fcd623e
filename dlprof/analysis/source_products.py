"""Where a file multiplies a product of two arrays by a third, with nothing between them but factors: `(a b) c`.

The order makes no difference to what comes out: `a (b c)` is the same. A softmax between the two, or a mask, does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dlprof.analysis import source_loops

_PRODUCTS = frozenset({"batch_dot", "batch_matmul", "bmm", "dot", "matmul", "mm"})
_SAME_NUMBERS = frozenset({"contiguous", "permute", "swapaxes", "t", "transpose", "astype", "float", "to"})
"""Methods that give an array of the same numbers."""
_OF_NUMBERS = frozenset({"float", "int", "len", "rsqrt", "size", "sqrt"})
"""Functions that give a number of numbers."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Chain(NamedTuple):
    """A product of a product."""

    inner: int
    """Its line, as of the other one."""
    outer: int
    owner: str | None
    """The class around it."""


def chains(texts: Sequence[str]) -> tuple[Chain, ...]:
    """The products of products of a file; none in a text that is no Python."""
    tree = source_loops.parsed(texts)
    if tree is None:
        return ()
    numbers = _Numbers(tree)
    found = (chain for body, owner in _bodies(tree, None) for chain in _of_body(body, owner, numbers))
    return tuple(dict.fromkeys(found))


def _bodies(node: ast.AST, owner: str | None) -> Iterator[tuple[ast.AST, str | None]]:
    """The file, and each function of it with the class around it."""
    if isinstance(node, (ast.Module, *_FUNCTIONS)):
        yield node, owner
    for child in ast.iter_child_nodes(node):
        yield from _bodies(child, node.name if isinstance(node, ast.ClassDef) else owner)


def _of_body(body: ast.AST, owner: str | None, numbers: _Numbers) -> Iterator[Chain]:
    own = list(_own(body))
    asked = [node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    made: dict[str, list[ast.Assign]] = {}
    for node in own:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    made.setdefault(target.id, []).append(node)
    once = {name: found[0].value for name, found in made.items() if len(found) == 1 and asked.count(name) == 1}
    for node in own:
        for operand in _operands(node):
            inner = _inner_product(operand, once, numbers)
            if inner is not None:
                yield Chain(inner.lineno, node.lineno, owner)  # type: ignore[attr-defined]


def _own(body: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, or a file, but not in functions inside of it."""
    waiting = list(ast.iter_child_nodes(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _operands(node: ast.AST) -> Iterable[ast.expr]:
    """The two arrays of a product of matrices; none: it is no such product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left, node.right
    if isinstance(node, ast.Call) and _name(node.func) in _PRODUCTS:
        owner = node.func.value if isinstance(node.func, ast.Attribute) and len(node.args) == 1 else None
        both = (owner, *node.args) if owner is not None else tuple(node.args[:2])
        return both if len(both) == 2 else ()
    return ()


def _inner_product(node: ast.expr, once: Mapping[str, ast.expr], numbers: _Numbers) -> ast.expr | None:
    """The product that an operand is, but for factors and the order of its axes; None: it is another thing."""
    for _ in range(8):  # names may be made of each other
        if isinstance(node, ast.Name) and node.id in once:
            node = once[node.id]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            if numbers.has(node.right) or (isinstance(node.op, ast.Div) and numbers.is_setting(node.right)):
                node = node.left
            elif isinstance(node.op, ast.Mult) and numbers.has(node.left):
                node = node.right
            else:
                return None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_NUMBERS:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            node = node.value
        else:
            return node if _operands(node) else None
    return None


def _name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


class _Numbers:
    """Which expressions of a file are single numbers: constants, lengths, roots, and what is computed of these."""

    def __init__(self, tree: ast.Module) -> None:
        self._names: set[str] = set()
        self._settings = {name for node in ast.walk(tree) for name in _settings(node)}
        assigned: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(tree):
            for name, value in _given(node):
                assigned.setdefault(name, []).append(value)
        for _ in range(4):  # of each other, as far as anybody writes it
            self._names |= {
                name for name, values in assigned.items() if all(one is not None and self.has(one) for one in values)
            }

    def is_setting(self, node: ast.expr) -> bool:
        """Whether it is what a class was made with: nobody divides by an array of those, but masks are multiplied."""
        return isinstance(node, ast.Attribute) and _target(node) in self._settings

    def has(self, node: ast.expr) -> bool:
        """Whether an expression is a single number, as far as the file tells."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float))
        if isinstance(node, ast.BinOp):
            is_root = isinstance(node.op, ast.Pow) and isinstance(node.right, (ast.Constant, ast.UnaryOp))
            return (is_root and isinstance(node.left, ast.Name)) or (self.has(node.left) and self.has(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.has(node.operand)
        if isinstance(node, ast.Call):
            return _name(node.func) in _OF_NUMBERS and all(self.has(one) or _is_name(one) for one in node.args)
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return _target(node) in self._names


def _settings(node: ast.AST) -> Iterator[str]:
    """Attributes that a constructor gives the values of its parameters."""
    if not isinstance(node, ast.FunctionDef) or node.name != "__init__":
        return
    given = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Name) and one.value.id in given:
            yield from (_target(target) for target in one.targets)


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Names that a statement gives values to; None: to one that is not looked at."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple):
                of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
                for one in target.elts:
                    yield _target(one), ast.Constant(1) if of_shape else None
            else:
                yield _target(target), node.value
    elif isinstance(node, (ast.AugAssign, ast.For)):
        yield _target(node.target), None
    elif isinstance(node, ast.arg):
        yield node.arg, None


def _target(node: ast.expr) -> str:
    """`x`, `self.scale`."""
    return ast.unparse(node) if _is_name(node) else ""
