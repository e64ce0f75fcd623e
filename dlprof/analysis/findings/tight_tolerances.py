"""Differential equations that are solved to a tolerance below what 32-bit floats can tell apart.

An adaptive solver then makes many small steps whose errors are rounding. No trace tells a tolerance: the source does,
where it is written, or where the solver's own is left as it is; how much of the steps it has, the lines tell that made
the kernels, or the stacks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import source_loops
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.source_calls import called
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Category, Ground, StepPart

_TITLE = Title(
    "A differential equation was solved more exactly than its numbers are", "a solver whose tolerance is too small"
)
_SHARE = 0.20
"""Share of the steps that solving has, from which on it is a cause."""
_RELATIVE = {"jax": 1.4e-8, "torchdiffeq": 1e-7}
"""Relative tolerances where none is given (manuals of `jax.experimental.ode` and torchdiffeq)."""
_SOLVERS = frozenset({"odeint", "odeint_adjoint"})
_EXACT = re.compile(r"enable_x64|float64|double\(")
"""Of 64-bit floats such a tolerance asks for no more than they can tell."""
_TOO_SMALL = 2e-7
"""Two neighbouring 32-bit floats differ by 1.2e-7 of their value."""
_USUAL = 1e-5
_ORDER = 5
"""Of both solvers' method (Dormand and Prince): steps grow with this root of the tolerance."""
_PRODUCTS = (Category.MATMUL, Category.CONV)
_FOLDER = "torchdiffeq/"
_ADVICE = (
    "Give it a tolerance that the data and the model deserve, 1e-3 to 1e-5 for a network that is trained, or a solver "
    "of fixed steps, and see that the loss stays what it was."
)


@dataclass(frozen=True)
class _Solved:
    """Where a solver is called.

    Attributes:
        line: The line.
        tolerance: The relative one.
        is_given: Whether it is written there; else it is the solver's own.
        function: Name of what is solved; None: not by a name.
        lines: Lines of that function, and of the call.
    """

    line: SourceLine
    tolerance: float
    is_given: bool
    function: str | None
    lines: frozenset[SourceLine]


def claims(case: Case) -> Iterator[Claim]:
    """One, for the solver that has most of the steps."""
    if case.pair or case.steps is None or case.tree.unsplit is not None:
        return
    found = [one for file in sorted(case.code.user_files) for one in _solved(file, case.code.lines(file))]
    shares = [(share, one) for one in found if (share := _share(case, one)) >= _SHARE]
    if not shares:
        return
    share, solved = max(shares, key=lambda pair: pair[0])
    saves = 1 - (solved.tolerance / _USUAL) ** (1 / _ORDER)
    whose = "" if solved.is_given else " (the solver's own)"
    yield Claim(
        Sentence(
            f"Solving a differential equation to a relative tolerance of {solved.tolerance:g}{whose} takes "
            f"{100 * share:.0f} % of the steps{_evaluations(case, solved)}; 32-bit floats tell 1.2e-07 apart, and to "
            f"{_USUAL:g} it would take less by about"
        ),
        _takes(case, saves * share),
        [queries.kernels_by_line() if case.kernels.by_line else queries.operators()],
        _ADVICE,
        solved.line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps, part=share),
        fix="odeint(..., rtol=1e-4, atol=1e-5)",
    )


def _solved(file: str, texts: Sequence[str]) -> Iterator[_Solved]:
    """Calls of a file's in which the tolerance is below what 32-bit floats tell; none of a text that is no Python."""
    text = "\n".join(texts)
    package = "torchdiffeq" if "torchdiffeq" in text else "jax" if "jax.experimental.ode" in text else None
    tree = source_loops.parsed(texts) if package is not None and not _EXACT.search(text) else None
    if package is None or tree is None:
        return
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or called(call) not in _SOLVERS or not call.args:
            continue
        given = next((one.value for one in call.keywords if one.arg == "rtol"), None)
        tolerance = _RELATIVE[package] if given is None else _number(given)
        if tolerance is None or not 0 < tolerance <= _TOO_SMALL:
            continue
        function = _name(call.args[0])
        spans: list[ast.expr | ast.stmt] = [call, *([functions[function]] if function in functions else [])]
        lines = {(file, line) for one in spans for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
        yield _Solved((file, call.lineno), tolerance, given is not None, function, frozenset(lines))


def _name(node: ast.expr) -> str | None:
    """`f` of `f` and of `package.f`; None: it is neither."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _number(node: ast.expr) -> float | None:
    return float(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else None


def _share(case: Case, solved: _Solved) -> float:
    """Share of the steps that it has: by the lines that made the kernels, or by the solver's own frames."""
    if case.kernels.by_line:
        whole = sum(case.kernels.by_line.values())
        mine = sum(ns for line, ns in case.kernels.by_line.items() if line in solved.lines)
        kernels = case.own(Tree.FIT_STEPS / StepPart.KERNELS) / max(1, case.own(Tree.FIT_STEPS))
        return kernels * mine / whole
    return case.code.share([Tree.FIT_STEPS], lambda one: any(frame.file.startswith(_FOLDER) for frame in one.frames))


def _takes(case: Case, share: float) -> dict[TreePath, int]:
    """So much of the steps: of their kernels where lines tell these, else of all of them."""
    wanted = share * case.own(Tree.FIT_STEPS)
    if case.kernels.by_line:
        return case.filled(wanted, Tree.FIT_STEPS / StepPart.KERNELS)
    return case.takes(Tree.FIT_STEPS, share=share)


def _evaluations(case: Case, solved: _Solved) -> str:
    """How often what is solved is computed in a step, by its product that runs most; empty where that is not told."""
    ran = case.kernels.line_kernels(
        lambda row: row["category"] in _PRODUCTS and (row["file"], row["line"]) in solved.lines - {solved.line}
    )
    steps = case.kernels.window_steps
    most = max((one.count for one in ran.values()), default=0) / max(1, steps)
    return f", in which `{solved.function}` has {most:,.0f} products" if most >= 2 and solved.function else ""
