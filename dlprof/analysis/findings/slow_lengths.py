"""Fourier transforms of a length that has a large prime factor: libraries have fast ones for products of small primes.

No trace tells the lengths: the source does, where they are written as numbers, or as what a whole convolution of two
rows has, one less than both together, which is odd and often a prime.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dlprof.analysis import source_loops
from dlprof.analysis.findings import heavy_weights, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

_TITLE = Title("Fourier transforms had a length that is slow", "Fourier transforms of a slow length")
_SHARE = 0.15
"""Share of the steps that the transforms have, from which on it is a cause."""
_SAVES = 0.8
"""There and back, PyTorch took five times as long for rows of odd lengths of 800 to 24,000 as for rows filled up to the
next power of two: of 50 lengths on two cores they would take 75 % less on average, of 80 on one core 83 %."""
_SMALL = 13
"""Lengths whose factors are no larger are fast."""
_LARGEST = 1 << 40
"""A larger number is no length."""
_LIKELY = 0.8
"""Where the length is not known as a number: one less than two lengths together may happen to be a fast one."""
_OPERATORS = re.compile(r"fft(?!_?shift|_?freq|_fft_?shift)", re.IGNORECASE)
_CALLED = re.compile(r"i?[rh]?fft")
"""Functions of one axis, whose second argument is the length."""
_ADVICE = (
    "Fill rows up with zeros to a length of small factors, the next power of two or scipy.fft.next_fast_len(n), and "
    "cut what comes back to the length that is used: a longer row than the convolution needs changes nothing of it."
)


@dataclass(frozen=True)
class _Length:
    """Where a transform is called; its length, as it is written, and as a number (None: not known as one)."""

    line: SourceLine
    text: str
    number: int | None


def claims(case: Case) -> Iterator[Claim]:
    """One, where transforms have much of the steps, and the source has a length that is slow, or may well be."""
    takes = heavy_weights.by_leaf(case, [one for one in case.tree.layers if _OPERATORS.search(one.op or "")])
    whole = sum(takes.values())
    steps = max(1, case.own(Tree.FIT_STEPS))
    if case.pair or not whole or whole < _SHARE * steps:
        return
    slow = [one for file in sorted(case.code.user_files) for one in _lengths(file, case.code.lines(file))]
    if not slow:
        return
    length = max(slow, key=lambda one: (one.number is not None, case.code.stood_ns(one.line)))
    known = length.number is not None
    factor = _largest_factor(length.number) if length.number is not None else 0
    what = (
        f"is {length.number}, {'a prime' if factor == length.number else f'which has the prime factor {factor}'}"
        if known
        else f"is `{length.text}`, which is odd for two even lengths, and slow where it has a large prime factor"
    )
    yield Claim(
        Sentence(
            f"Fourier transforms have {100 * whole / steps:.0f} % of the steps, and the length of one {what}; "
            "of a fast length they would take less by about"
        ),
        {leaf: int(_SAVES * ns) for leaf, ns in takes.items()},
        [queries.operators()],
        _ADVICE if known else f"See what it is: 8191 is a prime, 8192 a power of two. {_ADVICE}",
        length.line,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=Support(
            Ground.PLACE if known else Ground.MODEL, seen=case.kernels.seen_steps, agree=1.0 if known else _LIKELY
        ),
        fix=f"n = 1 << ({length.text} - 1).bit_length() in the place of {length.text}",
    )


def _lengths(file: str, texts: list[str]) -> Iterator[_Length]:
    """Lengths of a file's transforms that are slow, or may well be; none of a text that is no Python."""
    tree = source_loops.parsed(texts)
    if tree is None:
        return
    written = _written(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        length = _length_of(call)
        value = written.get(length.id) if isinstance(length, ast.Name) else length
        if value is None:
            continue
        number = _number(value, written)
        if _largest_factor(number) > _SMALL if number is not None else _is_one_less_than_a_sum(value):
            yield _Length((file, call.lineno), ast.unparse(value), number)


def _written(tree: ast.Module) -> Mapping[str, ast.expr]:
    """What names of a file are set to, where that is done once."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _length_of(call: ast.Call) -> ast.expr | None:
    """What a call of a transform of one axis is given as its length; None: it is none, or is given none."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if not _CALLED.fullmatch(name):
        return None
    named = next((one.value for one in call.keywords if one.arg in ("n", "fft_length")), None)
    length = named or (call.args[1] if len(call.args) > 1 else None)
    one = isinstance(length, ast.List | ast.Tuple) and len(length.elts) == 1
    return length.elts[0] if one and isinstance(length, ast.List | ast.Tuple) else length


_COUNTS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def _number(value: ast.expr, written: Mapping[str, ast.expr], depth: int = 8) -> int | None:
    """What whole numbers, names of such, and sums, differences and products of them come to; None: something else."""
    if isinstance(value, ast.Constant):
        return value.value if type(value.value) is int and 0 < value.value < _LARGEST else None
    if isinstance(value, ast.Name) and value.id in written and depth:
        return _number(written[value.id], written, depth - 1)
    if not isinstance(value, ast.BinOp) or type(value.op) not in _COUNTS or not depth:
        return None
    left, right = (_number(side, written, depth - 1) for side in (value.left, value.right))
    number = _COUNTS[type(value.op)](left, right) if left is not None and right is not None else 0
    return number if 0 < number < _LARGEST else None


def _is_one_less_than_a_sum(value: ast.expr) -> bool:
    """Whether it is `a + b - 1`, or `2 * a - 1`."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Sub):
        return False
    is_one = isinstance(value.right, ast.Constant) and value.right.value == 1
    return is_one and isinstance(value.left, ast.BinOp) and isinstance(value.left.op, ast.Add | ast.Mult)


def _largest_factor(number: int) -> int:
    """The largest prime factor of a number."""
    largest, factor = 1, 2
    while factor * factor <= number:
        while number % factor == 0:
            largest, number = factor, number // factor
        factor += 1
    return max(largest, number)
