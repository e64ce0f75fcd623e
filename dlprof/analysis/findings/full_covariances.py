"""Normal distributions whose numbers are independent, given a whole matrix for their covariance.

The matrix is decomposed for each sample, and each density solves with it; of independent numbers a product of one
density each is the same. The source tells that the matrix is made of a diagonal, stacks and operators what it takes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from dlprof.analysis import source_loops
from dlprof.analysis.findings import doing, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.analysis.source_calls import called
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Direction, Ground

_TITLE = Title(
    "Independent numbers were given a whole covariance matrix", "a covariance matrix that is nothing but its diagonal"
)
_SHARE = 0.10
"""Share of the steps from which on it is a cause."""
_SAVES = 0.9
"""What is left is the density of each number alone: in the one pair of runs there is, 8.1 of 12.1 s went away."""
_FILES = ("torch/distributions/multivariate_normal",)
_MADE = "MultivariateNormal"
_DIAGONAL = frozenset({"diag", "diag_embed", "eye", "diagflat"})
_OF_MATRICES = re.compile(r"cholesky|triangular|tril|triu|diag|linalg|bmm|baddbmm", re.IGNORECASE)
"""Operators of the way back through a decomposition, and through a solution with it."""
_ADVICE = (
    "Where the covariance is a diagonal, each number has its own normal distribution: the same density, sample and "
    "entropy without a matrix, element by element."
)


def claims(case: Case) -> Iterator[Claim]:
    """One, where such a distribution has much of the steps."""
    line = _line(case) if not case.pair and case.engine.name == "torch" else None
    if line is None:
        return
    forward = case.code.share([Tree.FIT_STEPS], lambda sample: is_in_one(sample) or case.code.user_line(sample) == line)
    share = forward + _way_back(case)
    if share < _SHARE:
        return
    yield Claim(
        Sentence(
            f"A normal distribution with a whole matrix, which is made of a diagonal, takes {100 * share:.0f} % of the "
            "steps: a decomposition for each sample, a solution for each density, and the way back through both:"
        ),
        case.takes(Tree.FIT_STEPS, share=_SAVES * share),
        [queries.operators()],
        _ADVICE,
        line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=case.code.support([Tree.FIT_STEPS], is_in_one, ground=Ground.STATED, part=share),
        fix="torch.distributions.Independent(torch.distributions.Normal(mean, std), 1)",
    )


def is_in_one(sample: Sample) -> bool:
    """Whether such a distribution is made in a sample, or asked."""
    return any(frame.file.startswith(_FILES) for frame in sample.frames)


def _line(case: Case) -> SourceLine | None:
    """The line that makes one of a diagonal; None: none does."""
    places = ((file, line) for file in sorted(case.code.user_files) for line in _made(case.code.lines(file)))
    return max(places, key=case.code.stood_ns, default=None)


def _made(texts: Sequence[str]) -> Iterator[int]:
    """Lines of a file that make one; none of a text that is no Python."""
    tree = source_loops.parsed(texts)
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)] if tree is not None else []
    assigned = [one for one in ast.walk(tree) if isinstance(one, ast.Assign)] if tree is not None else []
    diagonal = {
        name.id for one in assigned if _is_diagonal(one.value) for name in one.targets if isinstance(name, ast.Name)
    }
    for call in calls:
        if called(call) == _MADE:
            given = [*call.args[1:], *(one.value for one in call.keywords)]
            if any(_is_diagonal(one) or (isinstance(one, ast.Name) and one.id in diagonal) for one in given):
                yield call.lineno


def _is_diagonal(node: ast.expr) -> bool:
    """Whether it makes a matrix of a diagonal, perhaps scaled: `torch.diag_embed(var)`, `0.5 * torch.eye(n)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_diagonal(node.left) or _is_diagonal(node.right)
    return isinstance(node, ast.Call) and called(node) in _DIAGONAL


def _way_back(case: Case) -> float:
    """Share of the steps in which gradients go back through it: by its operators' part of those of the way back."""
    rows = [row for row in case.kernels.operators.rows if row.direction == Direction.BACKWARD]
    theirs = sum(row.total_ns for row in rows if _OF_MATRICES.search(row.op or ""))
    back = case.code.share([Tree.FIT_STEPS], lambda sample: doing.goes_back(sample.frames, case.engine))
    return back * theirs / max(1, sum(row.total_ns for row in rows))
