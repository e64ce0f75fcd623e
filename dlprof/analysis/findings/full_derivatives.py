"""A Hessian or a Jacobian that is made in full, of which entries, the trace, the diagonal or one product are used.

No engine says in its trace which operators belong to it: the source tells what is used, and how much of the steps
it has remains a question.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from dlprof.analysis import source_loops
from dlprof.analysis.findings import queries, unseen_work
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.source_calls import called
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart

_TITLE = Title("Derivatives were computed that are not used", "derivatives that nothing uses")
_MAKES = frozenset({"hessian", "jacfwd", "jacrev"})
"""Functions of JAX and torch.func that give a function of all derivatives."""
_TAKES_PART = frozenset({"trace", "diag", "diagonal"})
_MULTIPLIES = frozenset({"dot", "matmul", "mv", "vdot"})
_PARTS, _PRODUCT = "single entries, or the diagonal, are used", "only the product with a vector is used"
_QUIET = (StepPart.HOST_PYTHON, StepPart.IDLE, StepPart.DISPATCH)
"""Parts of steps in which the host may wait while no kernel of theirs runs."""
_OF_WHOLE = 0.05
"""Share of the wall time that waits have at least."""
_FIRST = ast.Constant(0)
"""The argument that is taken where none is named."""
_INDICES = 2
_SAVES = 0.6
"""Of the kernels, at a guess: a row or two of a matrix of a few."""
_OF_KERNELS = 0.3
"""Share of the steps that kernels have at least."""
_HOW = {
    "jax": "jax.jvp(jax.grad(f), (x,), (unit_vector,)) gives one row, for each entry that is used",
    "torch": "torch.func.jvp(torch.func.grad(f), (x,), (unit_vector,)) gives one row, for each entry that is used",
}

_HOW_MULTIPLIED = {
    "jax": "jax.jvp(jax.grad(f), (x,), (v,))[1] is the product with v (of a Jacobian: jax.jvp(f, (x,), (v,))[1])",
    "torch": "torch.func.jvp(torch.func.grad(f), (x,), (v,))[1] is the Hessian's product with v",
}


def claims(case: Case) -> Iterator[Claim]:
    """A question, where a line that ran makes one and a part of it is used, or its product with a vector."""
    if case.steps is None or case.engine.name not in _HOW:
        return
    kernels = sum(kernel.ns for kernel in case.tree.layers)
    waited = unseen_work.waited_ns(case)
    if kernels >= _OF_KERNELS * max(1, case.own(Tree.FIT_STEPS)):
        takes = case.takes(case.steps if case.asynchronous else case.steps / StepPart.KERNELS, share=_SAVES)
    elif waited >= _OF_WHOLE * case.whole_ns:  # it is no part of a step, and waited for in between
        takes = case.filled(_SAVES * waited, *(case.steps / part for part in _QUIET))
    else:
        return
    place, product = next(_places(case, _made_for_a_part), None), next(_places(case, _made_for_a_product), None)
    if place is None and product is None:
        return
    used = _PARTS if place is not None else _PRODUCT
    yield Claim(
        Sentence(f"A matrix of derivatives is computed in full, of which {used}:"),
        takes,
        [queries.operators()],
        "Compute what is used alone: of the gradient, the derivative in one direction at a time.",
        place or product,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, agree=0.7),
        fix=(_HOW if place is not None else _HOW_MULTIPLIED)[case.engine.name],
    )


def _places(case: Case, made: Callable[[ast.AST], Iterator[int]]) -> Iterator[SourceLine]:
    rows = case.run.rows("lines")
    ran = {(row["file"], row["line"]) for row in rows if row["hits"] or row["samples"]}
    for file in sorted(case.code.user_files):
        tree = source_loops.parsed(case.code.lines(file))
        found = ((file, number) for number in sorted(made(tree) if tree else ()))
        yield from (place for place in found if not ran or place in ran)


def _made_for_a_part(tree: ast.AST) -> Iterator[int]:
    """Numbers of the lines at which a whole matrix is made of which a part is used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in _TAKES_PART and node.args and _is_whole(node.args[0]):
            yield node.lineno
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            continue
        for node in scope.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and _is_whole(node.value):
                name = node.targets[0]
                if isinstance(name, ast.Name) and _is_used_in_part(scope, name.id):
                    yield node.lineno


def _made_for_a_product(tree: ast.AST) -> Iterator[int]:
    """Numbers of the lines at which a whole matrix is made and multiplied by something at once."""
    for node in ast.walk(tree):
        factors: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            factors = [node.left, node.right]
        elif isinstance(node, ast.Call) and called(node) in _MULTIPLIES:
            factors = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
        yield from (factor.lineno for factor in factors if _is_whole(factor))


def _is_whole(value: ast.expr) -> bool:
    """Whether that is the matrix for one argument, `hessian(f)(x)`, or that of each row of a batch, with `vmap`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Call):
        return False
    made = value.func
    if called(made) == "vmap" and made.args and isinstance(made.args[0], ast.Call):
        made = made.args[0]
    told = {one.arg: one.value for one in made.keywords}
    return called(made) in _MAKES and "has_aux" not in told and isinstance(told.get("argnums", _FIRST), ast.Constant)


def _is_used_in_part(scope: ast.AST, name: str) -> bool:
    """Whether all uses of a name are entries at fixed places, its trace or its diagonal."""
    uses = {id(node) for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name}
    stored = {id(node) for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    parts = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Subscript) and _has_fixed_places(node.slice):
            parts.add(id(node.value))
        elif isinstance(node, ast.Call) and called(node) in _TAKES_PART and node.args:
            parts.add(id(node.args[0]))
    return bool(uses & parts) and uses <= parts | stored


def _has_fixed_places(index: ast.expr) -> bool:
    """Whether two numbers stand there, as in `[0, 0]` and `[:, 0, 0]`."""
    places = index.elts if isinstance(index, ast.Tuple) else []
    return sum(isinstance(one, ast.Constant) and isinstance(one.value, int) for one in places) >= _INDICES
