"""Both branches of a condition are computed for every row, and one of the results is dropped.

`vmap` makes of a `lax.cond` whose condition differs from row to row a choice between two results.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dlprof.analysis import source_calls, source_loops
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Basis, Ground, StepPart

TITLE = Title("Both branches of a condition were computed", "computing both branches of a condition")
_BRANCHES = {"cond": slice(1, 3), "switch": slice(1, 2)}
"""Functions of `jax.lax` that choose, and where their branches are among their arguments."""
_NAMED = frozenset({"true_fun", "false_fun", "branches"})
"""The same where they are named."""
_MAPS = "vmap"
_SHARE = 0.25
"""Share of the kernels that the branches have at least."""
_SAVES = 0.5
"""Of the branches' kernels, at a guess: how many rows need which is not known."""


@dataclass(frozen=True)
class _Choice:
    """A condition within a mapped function.

    Attributes:
        place: Its line.
        branches: Lines of its branches, and of functions of the file that these use.
    """

    place: SourceLine
    branches: frozenset[SourceLine]


def look(case: Case) -> Iterator[Claim]:
    """A condition in a function that is mapped, whose branches have a good part of the kernels, and no branch ran."""
    if case.pair or case.engine.name != "jax" or case.steps is None:
        return
    lines = case.kernels.by_line
    whole = sum(lines.values())
    if not whole:
        raise Abstain("no trace tells which lines made the kernels")
    for choice in _choices(case):
        theirs = sum(ns for place, ns in lines.items() if place in choice.branches)
        if theirs < _SHARE * whole or _is_one_run(case, choice.place):
            continue
        steps = case.steps if case.asynchronous else case.steps / StepPart.KERNELS
        yield Claim(
            Sentence(
                f"The condition at line {choice.place[1]} is in a function that vmap maps: its branches, which have "
                f"{100 * theirs / whole:.0f} % of the kernels, are both computed for every row:"
            ),
            case.takes(steps, share=_SAVES * theirs / whole),
            [queries.kernels_by_line()],
            "Split the rows by the condition before they are mapped, and compute each branch for its own rows; or, "
            "where a branch is seldom needed at all, choose outside of vmap: lax.cond(jnp.any(condition), ...).",
            choice.place,
            basis=Basis.ESTIMATED,
            support=Support(Ground.MODEL, seen=case.kernels.seen_steps),
            fix="jax.vmap(costly)(x[needs]) and jax.vmap(cheap)(x[~needs]) in the place of a lax.cond under vmap",
        )
        return


def _is_one_run(case: Case, place: SourceLine) -> bool:
    """Whether that condition was kept as one: then an operator of its name chooses, and one branch runs."""
    return any(row["op"] in _BRANCHES and (row["file"], row["line"]) == place for row in case.run.rows("kernel_ops"))


def _choices(case: Case) -> Iterator[_Choice]:
    for file in sorted(case.code.user_files):
        tree = source_loops.parsed(case.code.lines(file))
        if tree is None:
            continue
        known = source_calls.functions(tree)
        mapped = source_calls.reached(_mapped(tree), known)
        for name in sorted(mapped):
            for node in ast.walk(known[name]):
                if isinstance(node, ast.Call) and source_calls.called(node) in _BRANCHES and _is_of_lax(node):
                    yield _Choice((file, node.lineno), frozenset(_lines(file, node, known)))


def _mapped(tree: ast.AST) -> Iterator[str]:
    """Names in what is given to `vmap`, and of functions that it decorates."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and source_calls.called(node) == _MAPS and node.args:
            yield from source_calls.names(node.args[0])
        elif isinstance(node, source_calls.Function) and _MAPS in source_calls.names(ast.Tuple(node.decorator_list)):
            yield node.name


def _is_of_lax(call: ast.Call) -> bool:
    """Whether it is called as `lax.cond`, or by its bare name with branches behind the condition."""
    return "lax" in source_calls.names(call.func) or len(call.args) + len(call.keywords) > 2


def _lines(file: str, call: ast.Call, known: dict[str, source_calls.Function]) -> Iterator[SourceLine]:
    named = [one.value for one in call.keywords if one.arg in _NAMED]
    branches = [*call.args[_BRANCHES[source_calls.called(call)]], *named]
    used = set().union(*(source_calls.names(branch) for branch in branches))
    for branch in (one for one in branches if not isinstance(one, (ast.Name, ast.Attribute))):
        yield from ((file, line) for line in range(branch.lineno, (branch.end_lineno or branch.lineno) + 1))
    for name in source_calls.reached(used, known):
        function = known[name]
        yield from ((file, line) for line in range(function.lineno, (function.end_lineno or function.lineno) + 1))
