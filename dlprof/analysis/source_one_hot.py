"""Products of one-hot arrays with something else, by the source of a file.

`x = F.one_hot(tokens, n).float(); y = x @ w`: within one function, what is called so, as it is or in another form, and
then multiplied. What stands in attributes, or is handed to another function, is not followed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis.source_calls import Function, called
from dlprof.analysis.source_loops import parsed, statements

_MAKES = re.compile(r"_?one_?hot", re.IGNORECASE)
PRODUCTS = ("addmm", "bmm", "dot", "einsum", "linear", "matmul", "mm", "tensordot")
_LAYERS = frozenset({"Dense", "Linear"})
_CONVERTS = frozenset(
    {
        "array", "asarray", "as_in_context", "astype", "cast", "contiguous", "convert_to_tensor", "cuda", "double",
        "flatten", "float", "half", "reshape", "to", "type", "view",
    }
)  # fmt: skip
"""Functions and methods that give the same rows in another form."""


@dataclass(frozen=True)
class Product:
    """A product in a file.

    Attributes:
        line: Where it begins.
        name: The function or layer that is called; `matmul` for `@`.
        made: The line that makes a one-hot array which it multiplies; None: of none it is known.
    """

    line: int
    name: str
    made: int | None


def makes_any(texts: Sequence[str]) -> bool:
    """Whether a file has the name of what makes such an array: most have not, and need not be read as Python."""
    return bool(_MAKES.search("\n".join(texts)))


def products(texts: Sequence[str]) -> Iterator[Product]:
    """All of a file, in no order; none of a text that is no Python."""
    tree = parsed(texts) or ast.Module([], [])
    names = PRODUCTS + tuple(_layers(tree))
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.Module):
            yield from _of_body(node.body, names)


def _layers(tree: ast.Module) -> Iterator[str]:
    """What a file calls layers that multiply what they are given: `self.project = nn.Linear(8000, 64)`."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name) | ast.Attribute(attr=name)], ast.Call() as call) if called(call) in _LAYERS:
                yield name


def _of_body(body: Iterable[ast.stmt], names: Collection[str]) -> Iterator[Product]:
    made: dict[str, int] = {}
    for statement in statements(body):
        for node in ast.walk(statement):
            name, operands = _multiplied(node, names)
            if name and isinstance(node, ast.expr):
                lines = (line for one in operands if (line := _made(one, made)) is not None)
                yield Product(node.lineno, name, next(lines, None))
        _keep(statement, made)


def _keep(statement: ast.stmt, made: dict[str, int]) -> None:
    """Note what a statement sets to such an array, and forget what it sets to anything else."""
    value = getattr(statement, "value", None)
    line = _made(value, made) if isinstance(statement, ast.Assign | ast.AnnAssign) and value is not None else None
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            made.pop(node.id, None)
            if line is not None:
                made[node.id] = line


def _multiplied(node: ast.AST, names: Collection[str]) -> tuple[str | None, list[ast.expr]]:
    """What a product is called, by these names of functions and layers, and what it multiplies; None: it is none."""
    match node:
        case ast.BinOp(left, ast.MatMult(), right):
            return "matmul", [left, right]
        case ast.Call(function, arguments) if called(node) in names:
            itself = [function.value] if isinstance(function, ast.Attribute) else []
            return called(node), [*itself, *arguments]
    return None, []


def _made(node: ast.expr, made: Mapping[str, int]) -> int | None:
    """The line that makes the one-hot array which an expression is; None: it is none."""
    match node:
        case ast.Name(name):
            return made.get(name)
        case ast.Call() if _MAKES.fullmatch(called(node)):
            return node.lineno
        case ast.Call(function, arguments) if called(node) in _CONVERTS:
            itself = [function.value] if isinstance(function, ast.Attribute) else []
            lines = (_made(one, made) for one in [*itself, *arguments[:1]])
            return next((line for line in lines if line is not None), None)
    return None
