"""Rows that are gathered for each pair of positions, and multiplied then: vectors of relative positions.

There are as many pairs as positions times positions, and hardly more distances than positions: a product with the table
and a look-up in what came out has a fraction of the work, forward and back. The source tells what is gathered by what;
what it takes, the lines tell that made the kernels.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import source_loops
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.source_calls import called
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Ground, StepPart

_TITLE = Title(
    "Rows were gathered for each pair of positions, and multiplied then", "rows that are gathered for each pair"
)
_SHARE = 0.15
"""Share of the kernels' time that gathering has, and adding up its gradients, from which on it is a cause."""
_SAVES = 0.85
"""Of gathering and of the product: in the one pair of runs there is, 6.7 of 12.7 s went away."""
_LIKELY = 0.9
_PRODUCTS = frozenset({"einsum", "matmul", "dot", "tensordot"})
_ADVICE = (
    "Multiply with the table first, whose rows are as many as there are distances, and take from the products what "
    "each pair needs (take_along_axis with the distances, or the shift that turns distances into positions: pad by one "
    "column, reshape, cut off the first row)."
)
_FIX = "by_distance = einsum('bihd,rhd->bhir', q, table), then take_along_axis(by_distance, distance, -1)"


@dataclass(frozen=True)
class _Pairs:
    """Where that is written: the line that gathers, and those that multiply what came out."""

    gathers: SourceLine
    multiply: tuple[SourceLine, ...]


def claims(case: Case) -> Iterator[Claim]:
    """One, where the lines of kernels are told, and such a place has much of their time."""
    by_line = case.kernels.by_line if not case.pair else {}
    gathered = case.kernels.line_times(lambda row: row["category"] == Category.EMBEDDING) if by_line else {}
    whole = sum(by_line.values())
    long = {line for line, ns in gathered.items() if ns >= _SHARE * whole}
    one = next((one for one in _places(case, {file for file, _ in long}) if one.gathers in long), None)
    if one is None:
        return
    share = sum(by_line.get(line, 0) for line in (one.gathers, *one.multiply)) / whole
    yield Claim(
        Sentence(
            f"Rows are gathered for each pair of positions at line {one.gathers[1]} and multiplied at line "
            f"{one.multiply[0][1]}, which has {100 * share:.0f} % of the kernels' time; the other way round it would "
            "take less by about"
        ),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=_SAVES * share),
        [queries.kernels_by_line()],
        _ADVICE,
        one.gathers,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps, agree=_LIKELY),
        fix=_FIX,
    )


def _places(case: Case, files: Collection[str]) -> Iterator[_Pairs]:
    for file in sorted(files):
        tree = source_loops.parsed(case.code.lines(file))
        for function in ast.walk(tree) if tree is not None else ():
            if isinstance(function, ast.FunctionDef):
                yield from _in_function(file, function)


def _in_function(file: str, function: ast.FunctionDef) -> Iterator[_Pairs]:
    """Names that are gathered by distances of positions and are factors of a product, in one function."""
    statements = list(source_loops.statements(function.body))
    assigned = {
        target.id: one
        for one in statements
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    for name, one in assigned.items():
        index = _index(one.value)
        if index is None or not _is_of_pairs(index, assigned):
            continue
        lines = tuple((file, each.lineno) for each in statements if _multiplies(each, name))
        if lines:
            yield _Pairs((file, one.lineno), lines)


def _index(node: ast.expr) -> str | None:
    """The name in `table[name]`; None: it is something else."""
    return node.slice.id if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) else None


def _is_of_pairs(name: str, assigned: Mapping[str, ast.Assign]) -> bool:
    """Whether numbers are made of positions against positions: `i[None, :] - i[:, None]`."""
    made = assigned.get(name)
    parts = ast.walk(made.value) if made is not None else ()
    return sum(isinstance(one, ast.Subscript) and _adds_axis(one) for one in parts) > 1


def _adds_axis(node: ast.Subscript) -> bool:
    """Whether an axis is put in: `x[None]`, `x[:, None]`, `x[:, jnp.newaxis]`."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(
        (isinstance(one, ast.Constant) and one.value is None)
        or (isinstance(one, ast.Attribute) and one.attr == "newaxis")
        for one in parts
    )


def _multiplies(statement: ast.stmt, name: str) -> bool:
    """Whether a name is a factor of a product in a statement."""
    for node in ast.walk(statement):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            factors: Sequence[ast.expr] = (node.left, node.right)
        elif isinstance(node, ast.Call) and called(node) in _PRODUCTS:
            factors = node.args
        else:
            continue
        if any(isinstance(one, ast.Name) and one.id == name for one in factors):
            return True
    return False
