"""Parts of a model that each compute every row, though a mask takes of each only some rows: experts behind a router.

The source tells that the loop over them compares which part was chosen with the number of the part, and multiplies by
that; the names of their kernels tell what it costs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dlprof.analysis import source_calls, source_loops
from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Basis, Ground

_TITLE = Title("Parts of the model computed rows that a mask drops", "rows that a mask drops")
_FEWEST = 3
"""Of fewer parts little is dropped."""
_SHARE = 0.25
"""Share of the kernels that the parts have at least."""
_CHOOSES = frozenset({"max", "argmax"})
"""Functions that choose one part for each row."""
_MASKS = frozenset({"where", "masked_fill", "mul"})
_GUESSED = 0.5
"""Of what agrees, this is left where the source does not tell how many parts are chosen."""
_ADVICE = (
    "Give each part only the rows that chose it: find their numbers, take those rows, and add what the part makes of "
    "them to the same rows of the result. What a part computes for all others is multiplied by zero."
)
_FIX = (
    "rows = (chosen == i).nonzero(as_tuple=True)[0]; out.index_add_(0, rows, part(x[rows]) * weight[rows, None]) in "
    "the place of part(x) * mask"
)


@dataclass(frozen=True)
class _Loop:
    """A loop over parts.

    Attributes:
        place: The line that calls a part.
        parts: What the list of parts is called.
        chosen: How many parts are chosen for each row; None: the source does not tell.
    """

    place: SourceLine
    parts: str
    chosen: int | None


def claims(case: Case) -> Iterator[Claim]:
    """One, for a loop whose parts have much of the kernels of a step."""
    if case.pair or case.steps is None or case.tree.unsplit is not None:
        return
    whole = sum(kernel.ns for kernel in case.tree.layers)
    for loop in _loops(case):
        kernels = [(kernel, part) for kernel in case.tree.layers if (part := _part(kernel.layer, loop.parts))]
        count = len({part for _, part in kernels})
        theirs = sum(kernel.ns for kernel, _ in kernels)
        dropped = 1 - (loop.chosen or 1) / max(1, count)
        if count < _FEWEST or theirs < _SHARE * whole or dropped <= 0:
            continue
        takes = heavy_weights.scaled(heavy_weights.by_leaf(case, [kernel for kernel, _ in kernels]), dropped)
        of_each = f"{loop.chosen or 'one'} of {count}"
        yield Claim(
            Sentence(
                f"Each of {loop.parts} computes every row, and a mask takes what {of_each} makes of it: they have "
                f"{100 * theirs / max(1, whole):.0f} % of the kernels, and what is dropped takes"
            ),
            takes,
            [queries.operators(by="layer")],
            _ADVICE,
            loop.place,
            title=_TITLE,
            basis=Basis.ESTIMATED,
            support=Support(
                Ground.REPEATED, seen=case.kernels.seen_steps, agree=1.0 if loop.chosen is not None else _GUESSED
            ),
            fix=_FIX if case.engine.name == "torch" else None,
        )
        return


def _part(layer: str | None, parts: str) -> str | None:
    """Which of the parts a layer is in: `3` of `block.experts.3.up`; None: it is in none."""
    found = re.search(rf"(?:^|\.){re.escape(parts)}\.(\d+)(?:\.|$)", layer or "")
    return found.group(1) if found is not None else None


def _loops(case: Case) -> Iterator[_Loop]:
    for file in sorted(case.code.user_files):
        tree = source_loops.parsed(case.code.lines(file))
        for function in ast.walk(tree) if tree is not None else ():
            if isinstance(function, source_calls.Function):
                loops = [node for node in ast.walk(function) if isinstance(node, ast.For)]
                for loop in loops:
                    call = _masked_call(loop)
                    if call is not None:
                        yield _Loop((file, call[0].lineno), call[1], _chosen(function))


def _masked_call(loop: ast.For) -> tuple[ast.Call, str] | None:
    """The call of a part in a loop that takes of its result what a comparison with its number says, and their name."""
    number, part, parts = _turns(loop)
    name = _last(parts)
    if number is None or name is None or not _compares(loop, number) or not _multiplies(loop):
        return None
    names = (one for statement in loop.body for one in ast.walk(statement) if isinstance(one, ast.Name))
    made = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    for call in (node for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Call)):
        is_part = isinstance(call.func, ast.Name) and call.func.id == part
        is_indexed = isinstance(call.func, ast.Subscript) and ast.dump(call.func.value) == ast.dump(parts or call)
        if (is_part or is_indexed) and all(isinstance(one, ast.Name) and one.id not in made for one in call.args):
            return call, name
    return None


def _turns(loop: ast.For) -> tuple[str | None, str | None, ast.expr | None]:
    """Of `for i, part in enumerate(parts)` or `for i in range(len(parts))`: `i`, `part` (or None) and `parts`."""
    told = loop.iter
    if not isinstance(told, ast.Call) or not told.args:
        return None, None, None
    if source_calls.called(told) == "enumerate" and isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2:
        number, part = (getattr(one, "id", None) for one in loop.target.elts)
        return number, part, told.args[0]
    inner = told.args[0]
    if source_calls.called(told) == "range" and isinstance(inner, ast.Call) and source_calls.called(inner) == "len":
        return getattr(loop.target, "id", None), None, inner.args[0] if inner.args else None
    return None, None, None


def _last(parts: ast.expr | None) -> str | None:
    """The last part of a name: `experts` of `self.experts`."""
    return parts.attr if isinstance(parts, ast.Attribute) else getattr(parts, "id", None)


def _compares(loop: ast.For, number: str) -> bool:
    """Whether something is compared with the number of the turn."""
    compared = (node for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Compare))
    return any(
        isinstance(node.ops[0], ast.Eq)
        and any(isinstance(one, ast.Name) and one.id == number for one in (node.left, *node.comparators))
        for node in compared
    )


def _multiplies(loop: ast.For) -> bool:
    return any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult))
        or (isinstance(node, ast.Call) and source_calls.called(node) in _MASKS)
        for statement in loop.body
        for node in ast.walk(statement)
    )


def _chosen(function: source_calls.Function) -> int | None:
    """How many parts a function chooses for each row; None: its text does not tell."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    for call in calls:
        if source_calls.called(call) == "topk":
            told = [one.value for one in call.keywords if one.arg == "k"] or call.args[-1:]
            count = told[0].value if told and isinstance(told[0], ast.Constant) else None
            return count if isinstance(count, int) else None
    return 1 if any(source_calls.called(call) in _CHOOSES for call in calls) else None
