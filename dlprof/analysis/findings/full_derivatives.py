"""Derivatives in full of which a part or one product is used, or that are made input by input of one number.

No engine says in its trace which operators belong to it: the source tells what is used, and how much of the steps
it has remains a question.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dlprof.analysis import source_loops
from dlprof.analysis.findings import queries, unseen_work
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.source_calls import Function, called
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart

_INPUT_BY_INPUT = Title(
    "Derivatives of one number were computed input by input", "derivatives that are computed input by input"
)
_TITLE = Title("Derivatives were computed that are not used", "derivatives that nothing uses")
_MAKES = frozenset({"hessian", "jacfwd", "jacrev"})
"""Functions of JAX and torch.func that give a function of all derivatives."""
_TAKES_PART = frozenset({"trace", "diag", "diagonal"})
_MULTIPLIES = frozenset({"dot", "matmul", "mv", "vdot"})
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
_HOW_REVERSED = {
    "jax": "jax.grad(f) in place of jax.jacfwd(f) (jax.jacrev(f) where its result is an array of one number)",
    "torch": "torch.func.grad(f) in place of torch.func.jacfwd(f)",
}
_PART_ALONE = "Compute what is used alone: of the gradient, the derivative in one direction at a time."
_ONCE_AND_BACK = (
    "Forward mode goes through the function once for each number that it derives by; the gradient, in reverse mode, "
    "goes through it once and back for all of them."
)


def claims(case: Case) -> Iterator[Claim]:
    """A question, where a line that ran makes one and a part of it is used, its product, or a gradient would do."""
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
    kinds = ((kind, next(_places(case, kind.makes), None)) for kind in _KINDS)
    kind, place = next(((kind, place) for kind, place in kinds if place is not None), (None, None))
    if kind is None:
        return
    yield Claim(
        Sentence(f"{kind.what}:"),
        takes,
        [queries.operators()],
        kind.advice,
        place,
        title=kind.title,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, agree=0.7),
        fix=kind.fixes[case.engine.name],
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


_FORWARD = "jacfwd"
_REDUCES = frozenset({"sum", "mean", "max", "min", "norm", "vdot", "squeeze", "logsumexp", "prod"})
_ALONG = frozenset({"axis", "dim", "keepdims", "keepdim"})


def _made_input_by_input(tree: ast.AST) -> Iterator[int]:
    """Numbers of the lines at which a function of the file that returns one number is derived in forward mode."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) == _FORWARD and node.args:
            derived = node.args[0]
            function = functions.get(derived.id) if isinstance(derived, ast.Name) else None
            returned = _returned(function) if function is not None else []
            if isinstance(derived, ast.Lambda):
                returned = [derived.body]
            if returned and all(map(_is_number, returned)):
                yield node.lineno


def _returned(function: Function) -> list[ast.expr]:
    """What a function returns, without what functions in it do."""
    inner = {id(one) for node in ast.walk(function) if node is not function and isinstance(node, Function | ast.Lambda)
             for one in ast.walk(node)}  # fmt: skip
    found = (node for node in ast.walk(function) if isinstance(node, ast.Return) and id(node) not in inner)
    return [node.value for node in found if node.value is not None]


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is one number, as far as its text tells: a sum, an entry, or what is made of such."""
    if isinstance(value, ast.BinOp):
        return all(isinstance(one, ast.Constant) or _is_number(one) for one in (value.left, value.right))
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    if isinstance(value, ast.Subscript):
        places = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        return all(isinstance(_positive(one), ast.Constant) for one in places)
    if isinstance(value, ast.Call) and called(value) in _REDUCES:
        of_method = isinstance(value.func, ast.Attribute) and not _is_module(value.func.value)
        return len(value.args) <= (0 if of_method else 1) and not any(one.arg in _ALONG for one in value.keywords)
    return False


def _positive(index: ast.expr) -> ast.expr:
    return index.operand if isinstance(index, ast.UnaryOp) else index


def _is_module(value: ast.expr) -> bool:
    """Whether a function is taken of the engine's module, `jnp.sum(x)`, and not of an array, `x.sum()`."""
    text = ast.unparse(value)
    return text in {"jnp", "np", "torch"} or text.startswith(("jax.", "torch."))


@dataclass(frozen=True)
class _Kind:
    """What is computed for nothing.

    Attributes:
        title: What a finding is called.
        makes: Gives the lines of a file at which that is so.
        what: The beginning of the finding's sentence.
        advice: What to do.
        fixes: By engine, how.
    """

    title: Title
    makes: Callable[[ast.AST], Iterator[int]]
    what: str
    advice: str
    fixes: Mapping[str, str]


_WHOLE = "A matrix of derivatives is computed in full, of which"
_KINDS = (
    _Kind(_TITLE, _made_for_a_part, f"{_WHOLE} single entries, or the diagonal, are used", _PART_ALONE, _HOW),
    _Kind(
        _TITLE, _made_for_a_product, f"{_WHOLE} only the product with a vector is used", _PART_ALONE, _HOW_MULTIPLIED
    ),
    _Kind(
        _INPUT_BY_INPUT,
        _made_input_by_input,
        "Derivatives of one number are computed input by input",
        _ONCE_AND_BACK,
        _HOW_REVERSED,
    ),
)
