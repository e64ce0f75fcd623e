"""A penalty on the weights that a script computes itself, as a part of the loss: all weights, there and back.

The squares of all weights, their sum, and its gradient go through as many numbers as the model has, several times in
each step, where an optimiser's `weight_decay` has them in its hands anyway. Of small batches that is most of a step.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dlprof.analysis import source_loops
from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.layer_times import LayerTime
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground

_TITLE = Title("A penalty on all weights was computed in each step", "a penalty on all weights, there and back")
_SHARE = 0.20
"""Share of the steps from which on it is a cause."""
_SAVES = 0.9
"""At a guess: losses are outside of layers, too, and the decay itself takes an addition to each gradient."""
_CATEGORIES = (Category.ELEMENTWISE, Category.REDUCTION, Category.OTHER)
_WEIGHTS = frozenset({"parameters", "named_parameters"})
_SIZE = re.compile(r"\*\*|\bpow\(|\bsquare\(|norm\(|\babs\(|\b(\w+) \* \1\b")
"""What a penalty is made of: squares, powers, norms."""
_OTHERS = re.compile(r"no_grad|\.grad\b|numel|\.data\b|detach|requires_grad|clip_|\.copy_\(|\.mul_\(|print\(|\.item\(")
"""What goes through weights, too, and is none: counts, averages of weights, gradients, what is only looked at."""
_WITHOUT = re.compile(r"no_grad|inference_mode")


def claims(case: Case) -> Iterator[Claim]:
    """One, where work outside of layers has much of the steps, and the source squares all weights."""
    if case.engine.name != "torch" or case.pair:
        return
    layers = case.tree.layers
    if all(kernel.layer is None for kernel in layers):  # nobody knows what is outside of them
        return
    takes = heavy_weights.by_leaf(case, [kernel for kernel in layers if _may_be_of_it(kernel)])
    share = sum(takes.values()) / max(1, case.own(Tree.FIT_STEPS))
    line = _written(case) if share >= _SHARE else None
    if line is None:
        return
    yield Claim(
        Sentence(
            f"Operators of no layer have {100 * share:.0f} % of the steps, and the script goes through all weights of "
            "the model to add a penalty on them to the loss; without that it would take less by about"
        ),
        {leaf: int(_SAVES * ns) for leaf, ns in takes.items()},
        [queries.operators()],
        "Have the optimiser do it: weight_decay=2 * LAMBDA of SGD adds the same to the gradients of LAMBDA * (w * w)."
        "sum(), with groups of parameters where some are left out (Adam scales it; AdamW's decay is another rule).",
        line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps),
        fix="torch.optim.SGD(model.parameters(), lr=..., weight_decay=2 * LAMBDA)",
    )


def _may_be_of_it(kernel: LayerTime) -> bool:
    """Whether it is work on the way there or back, of no layer, and no product of matrices."""
    is_model = kernel.direction in (Direction.FORWARD, Direction.BACKWARD)
    return kernel.layer is None and is_model and kernel.category in _CATEGORIES


def _written(case: Case) -> SourceLine | None:
    """Where the source goes through all weights for their size, the line that stood longest; None: nowhere."""
    files = {file: source_loops.parsed(case.code.lines(file)) for file in sorted(case.code.user_files)}
    found = [(file, line) for file, tree in files.items() if tree is not None for line in _lines(tree)]
    return max(found, key=case.code.stood_ns, default=None)


def _lines(tree: ast.Module) -> Iterator[int]:
    """Lines that go through all weights, where these, or what is done beside with what comes of it, take their size."""
    for block in _blocks(tree):
        for statement in block:
            line = next(_goes_through(statement), None)
            if line is None:
                continue
            made = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _is_set(node)}
            text = "\n".join(
                ast.unparse(one) for one in block if one is statement or (_is_simple(one) and _uses(one, made))
            )
            if _SIZE.search(text) and not _OTHERS.search(text):
                yield line


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Statements that stand below each other, of all that takes gradients."""
    block = getattr(node, "body", None)
    asked = [*getattr(node, "items", ()), *getattr(node, "decorator_list", ())]
    if isinstance(block, list) and not any(_WITHOUT.search(ast.unparse(one)) for one in asked):
        for part in (block, getattr(node, "orelse", [])):
            yield part
            for statement in part:
                yield from _blocks(statement)


def _goes_through(statement: ast.stmt) -> Iterator[int]:
    """The lines of a statement's own loops over what `parameters()` gives."""
    if isinstance(statement, ast.For):
        over = [statement.iter]
    else:
        inside = ast.walk(statement) if _is_simple(statement) else ()
        over = [one.iter for node in inside for one in getattr(node, "generators", ())]
    for one in over:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _WEIGHTS:
            yield one.lineno


def _is_simple(statement: ast.stmt) -> bool:
    return not hasattr(statement, "body")


def _is_set(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _uses(statement: ast.stmt, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names and not _is_set(node) for node in ast.walk(statement))
