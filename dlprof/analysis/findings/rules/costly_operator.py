"""Operators that a step seldom needs: decompositions, sorting, one-hot arrays, texts, copies of whole arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dlprof.analysis import loops
from dlprof.analysis.findings import (
    carried_arrays,
    chained_products,
    contractions,
    fixed_filters,
    full_covariances,
    full_derivatives,
    gathered_gradients,
    gathered_pairs,
    grouped_convolutions,
    heavy_weights,
    one_hot_products,
    pair_differences,
    queries,
    slice_gradients,
    slow_gradients,
    slow_lengths,
    slow_softmax,
    tight_tolerances,
    weight_penalties,
)
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.layer_times import LayerTime
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground

TITLE = Title("An operator that is seldom needed took long", "an operator that is seldom needed in each step")
_SHARE = 0.20
"""Share of the steps from which on it is a cause."""
_ONE_HOT = "one-hot arrays"
_COPYING = ("copies", "updates")
_ADVICE = {
    "decompositions": (
        "A whole decomposition is seldom needed in each step: the largest singular value by a power iteration that "
        "goes on from the step before (spectral_norm), a solve in the place of an inverse, or every so many steps."
    ),
    "sorting": (
        "Rows are drawn without sorting all of them (random numbers of rows, randint: of few out of many hardly one "
        "comes twice; or NumPy on the host), an order is made once an epoch (one permutation, taken piece by piece), "
        "and the largest few need no whole order."
    ),
    _ONE_HOT: (
        "Take rows by their numbers, which makes no array of as many columns as there are numbers: table[numbers], an "
        "Embedding layer, or take_along_axis for the value of the right class in a loss."
    ),
    "jacobians": (
        "It has a row for each number of the batch's output, and the rows of one sample are zero for all others: "
        "tape.batch_jacobian, or, of one number a sample, tape.gradient(y, x), which sums over the batch. Of fewer "
        "inputs than outputs: forward mode (tf.autodiff.ForwardAccumulator)."
    ),
    "text": (
        "Turn texts into numbers once: before the training (give fit what the layer makes of them), or in the data "
        "set, with dataset.map(layer).cache(): the same texts have the same numbers in each epoch."
    ),
    "copies": (
        "Let XLA overwrite what a function returns changed: jax.jit(f, donate_argnums=...) for the array, and use the "
        "new one only; or change large buffers outside of JAX (NumPy)."
    ),
    "updates": (
        "Keep the array in a tf.Variable and change its rows in place: variable.scatter_nd_update(indices, rows), or "
        "scatter_update(tf.IndexedSlices(rows, numbers)). The function that gives a changed tensor copies all of it."
    ),
    "products": (
        "The gradient of prod multiplies all elements up from both ends. Of factors above 0: exp(sum(log(x))), with "
        "the smallest number that counts as a bound; of a few factors: multiply them one by one."
    ),
    "broadcasts": (
        "The gradient of an operand that was broadcast is summed up over its missing axes, slowly. Have an operator of "
        "MXNet do all of it where there is one: nn.LayerNorm, nn.BatchNorm or F.L2Normalization for a normalisation "
        "written out of means, a Dense layer's own bias; else broadcast once, for several operators together."
    ),
}


@dataclass(frozen=True)
class _Kind:
    """Operators that are alike in what they cost, and in what saves it."""

    name: str
    title: Title
    names: re.Pattern[str]
    saves: float
    written: str
    """What a line that asks for it has: where the engine works on while Python goes on, no stack tells the line."""
    of_jax: bool = False
    """Only in loops of JAX without Keras, which tells XLA itself what it may overwrite."""
    called: str | None = None
    """What they are called together; None: by the one that takes most."""
    in_loops_of_rows: bool = False
    """Those that TensorFlow runs for many rows at once (`pfor`), where the source asks for it: by their paths."""
    without_layers: bool = False
    """Only where no layers are known: of these another rule tells more (`wasteful-layer`)."""
    of_gradients: bool = False
    """Only on the way back, and where the source has what they are a gradient of: they have other uses, too."""


_KINDS = (
    _Kind(
        "decompositions",
        Title("Matrices were decomposed in the steps", "decomposing matrices"),
        re.compile(
            r"svd|eigh?(?![a-z])|eigv|(?<![a-z])qr(?![a-z])|cholesky"
            r"|(?<![a-z])lu(?![a-z])|lu_factor|geqrf|gesdd|syevd|potrf|pinv"
            r"|(matrix|linalg)_?inv|lstsq|matrix_?exp|slogdet|determinant",
            re.IGNORECASE,
        ),
        0.9,
        r"svd|(?<![a-z])eig(h|v|\()|cholesky|\b(pinv|inv|qr|lstsq|slogdet|det|expm)\(|matrix_norm|ord=2",
    ),
    _Kind(
        "sorting",
        Title("Sorting took much of the steps", "sorting"),
        re.compile(
            r"(?<![a-z])(arg|lex|m|radix|bitonic)?sort(?!ed)|top_?k|(?<![a-z])unique|randperm|permutation|random_?shuffle",
            re.IGNORECASE,
        ),
        0.9,
        r"sort\(|top_?k\(|permutation\(|randperm\(|shuffle\(|choice\(|unique\(",
    ),
    _Kind(
        _ONE_HOT,
        Title("One-hot arrays were made in the steps", "making one-hot arrays"),
        re.compile(r"one_?hot", re.IGNORECASE),
        0.9,
        r"one_?hot\(",
        without_layers=True,
    ),
    _Kind(
        "jacobians",
        Title("A Jacobian of the whole batch was computed", "computing a Jacobian of the whole batch"),
        re.compile(r"/pfor(/|$)"),
        0.8,
        r"(?<!batch_)\bjacobian\(",
        called="Operators that run once for each of its rows",
        in_loops_of_rows=True,
    ),
    _Kind(
        "text",
        Title("Texts were taken apart in the steps", "taking texts apart"),
        re.compile(
            r"^(String(Split|Lower|Upper|Strip|NGrams|Join|ToHash|ToNumber)|(Static)?Regex|Substr|Unicode|LookupTable"
            r"|WhitespaceTokenize|WordpieceTokenize|SentencepieceTokenize)"
        ),
        0.9,
        r"TextVectorization\(|StringLookup\(|tf\.strings\.|text\.\w*Tokenizer\(|\.lookup\(",
        called="Operators on texts",
    ),
    _Kind(
        "copies",
        Title("Whole arrays were copied to change a part of them", "copying whole arrays"),
        re.compile(r"copy(\.\d+)?", re.IGNORECASE),
        0.8,
        r"\.at\[|dynamic_update_slice",
        of_jax=True,
    ),
    _Kind(
        "updates",
        Title("A whole array was copied to change some of its rows", "copying an array to change some of its rows"),
        re.compile(r"^TensorScatter\w+$"),
        0.9,
        r"tensor_scatter_nd_\w+\(|scatter_update\(",
        called="Operators that give a whole array with some rows changed",
    ),
    _Kind(
        "products",
        Title("The gradient of a product over an axis took long", "the gradient of a product over an axis"),
        re.compile(r"cum_?prod", re.IGNORECASE),
        0.9,
        r"(?<!cum)(?<!\bnp\.)(?<!\bmath\.)(?<!\bnumpy\.)prod\(",
        of_gradients=True,
    ),
    _Kind(
        "broadcasts",
        Title("Gradients of what was broadcast took much of the steps", "gradients of what was broadcast"),
        re.compile(r"^_backward_broadcast_\w+$"),
        0.8,
        r"F\.broadcast_\w+\(|nd\.broadcast_\w+\(",
    ),
)


def look(case: Case) -> Iterator[Claim]:
    """The operators of the steps, by what kind they are."""
    if not case.tree.layers:
        raise Abstain("no kernel of the steps was traced")
    if case.pair:
        raise Abstain("of two runs operators are compared layer by layer")
    yield from slice_gradients.claims(case)
    yield from gathered_gradients.claims(case)
    yield from gathered_pairs.claims(case)
    grouped = list(grouped_convolutions.claims(case))
    yield from grouped or slow_gradients.claims(case)
    yield from slow_softmax.claims(case)
    yield from slow_lengths.claims(case)
    yield from contractions.claims(case)
    yield from chained_products.claims(case)
    yield from pair_differences.claims(case)
    yield from full_derivatives.claims(case)
    yield from fixed_filters.claims(case)
    yield from full_covariances.claims(case)
    yield from tight_tolerances.claims(case)
    yield from carried_arrays.claims(case)
    yield from weight_penalties.claims(case)
    multiplied = list(one_hot_products.claims(case))
    yield from multiplied
    for kind in _KINDS:
        if multiplied and kind.name == _ONE_HOT:
            continue
        found = _found(case, kind)
        if found:
            yield _claim(case, kind, found)


def copying(case: Case) -> dict[TreePath, int]:
    """Kernels that copy whole arrays to change a part of them, where they are a cause, by leaf (ns)."""
    found = [one for kind in _KINDS if kind.name in _COPYING for one in _found(case, kind)]
    return heavy_weights.by_leaf(case, found)


def _found(case: Case, kind: _Kind) -> list[LayerTime]:
    """Operators of a kind, where they have much of the steps."""
    found = [one for one in case.tree.layers if _is_of(kind, one)] if _may_be(kind, case) else []
    total = sum(kernel.ns for kernel in found)
    return found if total and total >= _SHARE * max(1, case.own(Tree.FIT_STEPS)) else []


def _may_be(kind: _Kind, case: Case) -> bool:
    """Whether the run is one in which such operators are looked for."""
    if kind.in_loops_of_rows or kind.of_gradients:
        return case.code.written(kind.written) is not None
    if kind.of_jax:
        return case.engine.name == "jax" and not loops.is_any_of_keras(case.run)
    return not (kind.without_layers and case.run.rows("layers"))


def _is_of(kind: _Kind, kernel: LayerTime) -> bool:
    if kind.in_loops_of_rows:
        return bool(kind.names.search(kernel.layer or ""))
    if kind.of_gradients and kernel.direction != Direction.BACKWARD:
        return False
    return _is_named(kind, kernel.op, kernel.category)


def _is_named(kind: _Kind, op: str | None, category: str | None) -> bool:
    """Whether an operator has a name of that kind."""
    if kind.of_jax:
        return category == Category.DATA_MOVEMENT and bool(kind.names.fullmatch(op or ""))
    return bool(kind.names.search(op or ""))


def _line(case: Case, kind: _Kind) -> SourceLine | None:
    """The line that asks for it: the one that its program names, the one that stood longest, or as it is written."""
    made = next(iter(case.kernels.line_times(lambda row: _is_named(kind, row["op"], row["category"]))), None)
    if made is not None and (not kind.of_jax or re.search(kind.written, case.code.source(*made))):
        return made
    hottest = case.code.hottest_line([Tree.FIT_STEPS])
    if hottest is not None and not case.asynchronous and re.search(kind.written, case.code.source(*hottest)):
        return hottest
    return case.code.written(kind.written) or hottest


def _besides(case: Case) -> str:
    """The end of a sentence on one-hot arrays: that products with them come on top, where it is not told what of."""
    lines = sorted({str(line) for _, line in one_hot_products.written(case)}, key=int)
    if not lines:
        return "."
    return f"; the product with it in line {' and '.join(lines)} comes on top, and it is not told which kernels it is."


def _claim(case: Case, kind: _Kind, found: list[LayerTime]) -> Claim:
    takes = {leaf: int(kind.saves * ns) for leaf, ns in heavy_weights.by_leaf(case, found).items()}
    worst = max(found, key=lambda kernel: kernel.ns)
    share = sum(kernel.ns for kernel in found) / max(1, case.own(Tree.FIT_STEPS))
    return Claim(
        Sentence(
            f"{kind.called or f'{worst.op} and its kin'} have {100 * share:.0f} % of the steps:",
            _besides(case) if kind.name == _ONE_HOT else ".",
        ),
        takes,
        [queries.operators()],
        _ADVICE[kind.name],
        _line(case, kind),
        title=kind.title,
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps),
    )
