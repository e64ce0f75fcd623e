"""Both branches of a condition are computed for every row, and one of the results is dropped.

`vmap` makes of a `lax.cond` whose condition differs from row to row a choice between two results.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from dlprof.analysis import source_calls, source_loops
from dlprof.analysis.findings import masked_parts, queries, standing, unseen_work
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.source_calls import Functions
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Direction, Ground, Phase, StepPart

TITLE = Title("Both branches of a condition were computed", "computing both branches of a condition")
_BRANCHES = {"cond": slice(1, 3), "switch": slice(1, 2)}
"""Functions of `jax.lax` that choose, and where their branches are among their arguments."""
_NAMED = frozenset({"true_fun", "false_fun", "branches"})
"""The same where they are named."""
_SELECT = "select"
"""What the operator that takes one of two results is called begins so."""
_MAPS = "vmap"
_SHARE = 0.25
"""Share of the kernels that the branches have at least."""
_SAVES = 0.5
"""Of the branches' kernels, at a guess: how many rows need which is not known."""
_FORWARD = 0.5
"""What the way there takes of what the way back does, about."""
_WAITED = 0.05
"""Share of the wall time that waits for what was not traced have at least."""
_ADVICE = (
    "Split the rows by the condition outside of the compiled function, and give each branch its own, padded to "
    "a fixed number of them; or, where a batch seldom needs a branch at all, choose around the map: "
    "lax.cond(jnp.any(condition), ...)."
)


@dataclass(frozen=True)
class _Choice:
    """A condition within a mapped function.

    Attributes:
        place: Its line.
        branches: Lines of its branches, and of functions of the file that nothing else uses.
        shared: Lines of functions that these use, and something else, too.
    """

    place: SourceLine
    branches: frozenset[SourceLine]
    shared: frozenset[SourceLine]


def look(case: Case) -> Iterator[Claim]:
    """A condition in a function that is mapped, at whose line results are selected, and whose branches take long.

    Likewise parts of a model that compute all rows, of which a mask takes some.
    """
    yield from masked_parts.claims(case)
    if case.pair or case.engine.name != "jax" or case.steps is None:
        return
    yield from list(_of_steps(case, case.steps)) or _of_unseen(case)
    if not case.kernels.by_line and not unseen_work.waited_ns(case):
        raise Abstain("no trace tells which lines made the kernels")


def _of_steps(case: Case, place: TreePath) -> Iterator[Claim]:
    """That of a step, by the lines that made its kernels."""
    lines, whole = case.kernels.by_line, case.kernels.by_layer.all_ns
    for choice in _choices(case, _selecting(case)):
        alone = sum(ns for place, ns in lines.items() if place in choice.branches)
        beside = _beside_gradients(case, choice.shared)
        theirs = max(alone, beside)
        if theirs < _SHARE * whole:
            continue
        steps = place if case.asynchronous else place / StepPart.KERNELS
        which = f"which have {100 * theirs / whole:.0f} % of the kernels,"
        if theirs > alone:
            which = (
                f"which share their code with what a gradient is taken of ({100 * theirs / whole:.0f} % of the kernels "
                "are of that code, and of no gradient),"
            )
        yield Claim(
            Sentence(
                f"The condition at line {choice.place[1]} is in a function that vmap maps: its branches, {which} are "
                "both computed for every row:"
            ),
            case.takes(steps, share=_SAVES * theirs / whole),
            [queries.kernels_by_line()],
            _ADVICE,
            choice.place,
            basis=Basis.ESTIMATED,
            support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=1.0 if theirs == alone else 0.5),
        )
        return


def _beside_gradients(case: Case, lines: Collection[SourceLine]) -> int:
    """How long kernels ran of lines that a gradient is taken of, beyond what that takes (ns); 0: none is.

    The way there takes half as long as the way back, of two products for each: what takes longer is of no gradient.
    """
    back = case.kernels.line_times(lambda row: row["direction"] == Direction.BACKWARD)
    back_ns = sum(ns for place, ns in back.items() if place in lines)
    all_ns = sum(ns for place, ns in case.kernels.by_line.items() if place in lines)
    return max(0, int(all_ns - back_ns - _FORWARD * back_ns)) if back_ns else 0


def _of_unseen(case: Case) -> Iterator[Claim]:
    """The same, as a question, of what runs between the steps and is waited for: no kernel of it was traced."""
    waited = unseen_work.waited_ns(case)
    if waited < _WAITED * case.whole_ns:
        return
    # Lines of functions that are traced into a graph are not counted: whether one ran is not known.
    written = {place for name in _BRANCHES for place in case.code.places(rf"\b{name}\(")}
    for choice in _choices(case, written):
        yield Claim(
            Sentence(
                f"The training waits for what no kernel of its steps computes, and the condition at line "
                f"{choice.place[1]} is in a function that vmap maps: both of its branches are computed for every row, "
                "and all of what they give, large arrays as well, is chosen from at each turn:"
            ),
            case.filled(_SAVES * waited, *standing.QUIET_STEPS),
            [queries.python_stood(Phase.FIT_STEPS)],
            f"{_ADVICE} Of an array that is changed in one place only, choose the place, not the array: "
            "x.at[jnp.where(condition, row, len(x))].set(value, mode='drop').",
            choice.place,
            basis=Basis.ESTIMATED,
            support=Support(Ground.MODEL, agree=0.5),
        )


def _selecting(case: Case) -> set[SourceLine]:
    """Lines at which results are selected, and no operator chooses, which would run one branch."""
    rows = [row for row in case.run.rows("kernel_ops") if row["file"]]
    selecting = {(row["file"], row["line"]) for row in rows if (row["op"] or "").startswith(_SELECT)}
    return selecting - {(row["file"], row["line"]) for row in rows if row["op"] in _BRANCHES}


def _choices(case: Case, places: Collection[SourceLine]) -> Iterator[_Choice]:
    """The conditions at some lines."""
    for file in sorted({file for file, _ in places} & set(case.code.user_files)):
        tree = source_loops.parsed(case.code.lines(file))
        if tree is None:
            continue
        known = Functions(tree)
        calls = {
            (node.lineno, node.col_offset): node
            for name in known.reached(_mapped(tree))
            for node in ast.walk(known.by_name[name])
            if isinstance(node, ast.Call) and source_calls.called(node) in _BRANCHES and _is_of_lax(node)
        }
        for (line, _), node in sorted(calls.items()):
            if (file, line) in places:
                alone, every = _lines(node, known)
                yield _Choice((file, line), _in_file(file, alone), _in_file(file, every - alone))


def _mapped(tree: ast.AST) -> Iterator[str]:
    """Names in what is given to `vmap`, and of functions that it decorates."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and source_calls.called(node) == _MAPS and node.args:
            yield from source_calls.names(node.args[0])
        elif isinstance(node, source_calls.Function) and any(map(_is_map, node.decorator_list)):
            yield node.name


def _is_map(decorator: ast.expr) -> bool:
    """Whether that is `vmap`, `jax.vmap`, or one of them with arguments, as of `partial`."""
    return any(
        (isinstance(one, ast.Name) and one.id == _MAPS) or (isinstance(one, ast.Attribute) and one.attr == _MAPS)
        for one in ast.walk(decorator)
    )


def _is_of_lax(call: ast.Call) -> bool:
    """Whether it is called as `lax.cond`, `jax.lax.cond`, or by its bare name with branches behind the condition."""
    if isinstance(call.func, ast.Name):
        return len(call.args) + len(call.keywords) > 2
    return "lax" in ast.unparse(call.func).split(".")


def _in_file(file: str, lines: Collection[int]) -> frozenset[SourceLine]:
    return frozenset((file, line) for line in lines)


def _lines(call: ast.Call, known: Functions) -> tuple[set[int], set[int]]:
    """Lines of branches and of what they alone use, for what is used elsewhere is computed anyway; those of all."""
    named = [one.value for one in call.keywords if one.arg in _NAMED]
    branches = [*call.args[_BRANCHES[source_calls.called(call)]], *named]
    used = {name for branch in branches for name in source_calls.names(branch)}
    theirs = known.reached(used)
    around = {name for name, node in known.by_name.items() if call.lineno in source_calls.lines(node)}
    others = {name for user, uses in known.uses.items() if user not in theirs | around for name in uses}
    apart = {id(one) for part in (*branches, *map(known.by_name.__getitem__, theirs)) for one in ast.walk(part)}
    beside = {
        one.id
        for name in around
        for one in ast.walk(known.by_name[name])
        if isinstance(one, ast.Name) and id(one) not in apart
    }
    written = [one for one in branches if not isinstance(one, (ast.Name, ast.Attribute))]
    alone = {line for branch in written for line in source_calls.lines(branch)}
    apart_from_others = theirs - known.reached((others | known.used_outside | beside) & theirs) - around
    return (
        alone | {line for name in apart_from_others for line in source_calls.lines(known.by_name[name])},
        alone | {line for name in theirs - around for line in source_calls.lines(known.by_name[name])},
    )
