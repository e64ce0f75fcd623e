"""Loops that ask for the next piece of a sequence with all of it, by their source.

`logits = model(tokens); tokens = cat([tokens, logits.argmax(-1)])`: out of what a call gives back one piece is chosen,
which is put to what it was given, and the next turn gives it all of that again. Without a choice it may be anything: a
dense block joins its layers' outputs, an attention looks at all states there were.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis.source_calls import called
from dlprof.analysis.source_loops import parsed, statements

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_JOINS = frozenset({"append", "cat", "concat", "concatenate", "hstack", "pad"})
_PUT_BEHIND = frozenset({"append", "extend"})
"""Methods of a list that put something behind what it has."""
_PUT_INTO = frozenset({"set", "dynamic_update_slice", "dynamic_update_slice_in_dim", "tensor_scatter_nd_update"})
_CONVERTS = frozenset(
    {
        "LongTensor", "array", "as_tensor", "asarray", "astype", "cast", "clone", "constant", "convert_to_tensor",
        "copy", "cuda", "device_put", "expand_dims", "from_numpy", "list", "long", "pad", "pad_sequences", "reshape",
        "stack", "tensor", "to", "unsqueeze", "view",
    }
)  # fmt: skip
"""Functions that give the same pieces in another form."""
_GIVES_NO_PIECE = frozenset({"len", "print", "range"})
_CHOOSES = ("argmax", "categorical", "choice", "choose", "multinomial", "pick", "sample", "searchsorted", "topk")
"""What names of functions have, but for underscores, that choose one of many by what they are given."""
_KEPT = ("cache", "hidden", "past", "state")
"""Beginnings of the names of arguments, and of what is given without one, that bring what was computed of earlier
pieces."""


@dataclass(frozen=True)
class Regrown:
    """A loop whose call is given a sequence that what it gave back was put to.

    Attributes:
        lines: Numbers of the lines of the statement that calls.
        name: The sequence.
    """

    lines: range
    name: str


def regrown(texts: Sequence[str]) -> Iterator[Regrown]:
    """Such loops of a file; none for a text that is no Python."""
    joined = "\n".join(texts).lower().replace("_", "")
    if not any(word in joined for word in _CHOOSES):  # most files need not be read as Python
        return
    for node in ast.walk(parsed(texts) or ast.Module([], [])):
        if isinstance(node, _LOOPS):
            yield from _of_loop(list(statements(node.body)), branches=_branches(node))


def grown_at(texts: Sequence[str], line: int) -> str | None:
    """The sequence that the call in a line is given, and that a loop around puts what it gave to; None: none is seen.

    However what is put to it comes out of what the call gave: for calls of which is known that their input grows.
    """
    for node in ast.walk(parsed(texts) or ast.Module([], [])):
        if isinstance(node, _LOOPS) and node.lineno <= line <= (node.end_lineno or node.lineno):
            found = next((one for one in _of_loop(list(statements(node.body)), True) if line in one.lines), None)
            if found is not None:
                return found.name
    return None


def _of_loop(body: Sequence[ast.stmt], is_chosen: bool = False, branches: Sequence[ast.If] = ()) -> Iterator[Regrown]:
    """The first call that is given all of a sequence to which is put what was chosen out of what that call gave.

    Args:
        body: The statements of the loop.
        is_chosen: That something is chosen need not be seen.
        branches: Those of which only one runs.
    """
    for name in dict.fromkeys(name for one in body for name in _grown(one)):
        given = _same(body, name)
        given = {one for one in given if all(_has_all(branch, one, given) for branch in branches)}
        for number, one in enumerate(body):
            if any(_is_given(call, given, is_chosen) for call in _calls(one)) and _is_put_back(
                body[number:], name, is_chosen
            ):
                yield Regrown(range(one.lineno, (one.end_lineno or one.lineno) + 1), name)
                break


def _is_put_back(statements: Sequence[ast.stmt], name: str, is_chosen: bool) -> bool:
    """Whether what the first of some statements gave is chosen from, and that is put to a sequence.

    Args:
        statements: From the call on.
        name: The sequence.
        is_chosen: That something is chosen need not be seen.
    """
    come = _stored(statements[0])
    chosen = is_chosen or _chooses(statements[0])
    if chosen and name in _grown(statements[0]):
        return True
    for one in statements[1:]:
        if (_read(one) - {name}) & come:
            chosen = chosen or _chooses(one)
            if chosen and name in _grown(one):
                return True
            come |= _stored(one)
    return False


def _chooses(statement: ast.stmt) -> bool:
    return any(word in called(call).lower().replace("_", "") for call in _calls(statement) for word in _CHOOSES)


def _grown(statement: ast.stmt) -> Iterator[str]:
    """Variables that a statement puts something to: behind them, or into them."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), method))) if method in _PUT_BEHIND:
            yield name
        case ast.AugAssign(ast.Name(name), ast.Add(), ast.List() | ast.ListComp()):
            yield name
        case ast.Assign([ast.Subscript(ast.Name(name))]):
            yield name
        case ast.Assign([ast.Name(name)], ast.Call() as call) if called(call) in _JOINS | _PUT_INTO:
            yield from {name} & _read(call)
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(other), ast.Add())) if name == other:
            yield name


def _branches(loop: ast.AST) -> list[ast.If]:
    return [node for node in ast.walk(loop) if isinstance(node, ast.If) and node.orelse]


def _has_all(branch: ast.If, name: str, given: set[str]) -> bool:
    """Whether a variable that both branches set has all of a sequence behind each.

    With a cache one of them gives it the newest piece. Which of them ran the source does not tell.
    """
    setting = [[one for one in statements(part) if name in _stored(one)] for part in (branch.body, branch.orelse)]
    return not all(setting) or all(
        any(isinstance(one, ast.Assign) and _holds(one.value, given) for one in part) for part in setting
    )


def _same(body: Sequence[ast.stmt], name: str) -> set[str]:
    """Variables with all of a sequence, or a stretch of it."""
    found = {name}
    for one in body:
        if isinstance(one, ast.Assign) and _holds(one.value, found) and not any(name in _grown(one) for name in found):
            found |= _stored(one)
    return found


def _is_given(call: ast.Call, names: set[str], is_known: bool) -> bool:
    """Whether a call that is no join gets all of a sequence, and nothing that was kept of what it gave before.

    Where its input is known to grow, a place for what was kept may be empty.
    """
    if called(call) in _JOINS | _PUT_INTO | _PUT_BEHIND | _GIVES_NO_PIECE | _CONVERTS:
        return False
    changing = [word.arg or "" for word in call.keywords if not isinstance(word.value, ast.Constant)]
    changing += [value.id for value in call.args if isinstance(value, ast.Name) and not is_known]
    if any(name.startswith(_KEPT) for name in changing):
        return False
    return any(_holds(value, names) for value in [*call.args, *(word.value for word in call.keywords)])


def _holds(node: ast.expr, names: set[str]) -> bool:
    """Whether an argument has all of a sequence, or a stretch of it: as it is, as an array, or in brackets."""
    match node:
        case ast.Name(name):
            return name in names
        case ast.Subscript(value, place):
            parts = place.elts if isinstance(place, ast.Tuple) else [place]
            return _holds(value, names) and all(_is_stretch(part) for part in parts)
        case ast.List(values) | ast.Tuple(values):
            return any(_holds(value, names) for value in values)
        case ast.Call(function, arguments) if called(node) in _CONVERTS:
            inside = [function.value] if isinstance(function, ast.Attribute) else []
            return any(_holds(value, names) for value in [*inside, *arguments])
    return False


def _is_stretch(place: ast.expr) -> bool:
    """Whether an index takes more than one piece: `:`, `-8:`, `...`; the last one alone (`-1:`) is none."""
    if isinstance(place, ast.Slice):
        return place.lower is None or place.upper is not None or ast.unparse(place.lower) != "-1"
    return isinstance(place, ast.Constant) and place.value in (None, ...)


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _read(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _stored(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
