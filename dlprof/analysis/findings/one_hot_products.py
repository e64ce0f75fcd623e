"""One-hot arrays that code of the script's own multiplies, where no layers are known.

The source says which lines make and multiply one; which kernels these are is told by the lines or the names that the
engine gives its kernels, by the stacks, where the engine works while Python waits in the line, or by the layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dlprof.analysis import kernels, source_one_hot
from dlprof.analysis.findings import heavy_weights, new_pages, one_hot, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.heavy_weights import by_leaf
from dlprof.analysis.layer_times import LayerTime
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, EventKind, Ground, StepPart

_SAVES = 0.9
"""What is left is the look-up, and the gradient of the rows."""
_SHARE = 0.20
"""Of the steps, from which on it is a cause."""
_SCOPE = re.compile(rf"(?:^|/)({'|'.join(source_one_hot.PRODUCTS)})(?:_\d+)?(?=[/:]|$)", re.IGNORECASE)
"""How TensorFlow names kernels: by the function that was called, `gradient_tape/Tensordot/MatMul` on the way back."""
_Told = tuple[dict[TreePath, int], float | None]
"""Times by leaf (ns), and how often that was seen."""
_WORKING = (EventKind.OPERATOR.word, EventKind.KERNEL.word)
_FIX = {
    "torch": "torch.nn.functional.embedding(numbers, w) in place of one_hot(numbers) @ w",
    "tensorflow": "tf.nn.embedding_lookup(w, numbers) in place of the product of tf.one_hot(numbers) and w",
    "jax": "w[numbers] in place of jax.nn.one_hot(numbers) @ w",
    "mxnet": "mx.nd.take(w, numbers) in place of the product of one_hot(numbers) and w",
}


@dataclass(frozen=True)
class OneHotProduct:
    """Such a product.

    Attributes:
        made, multiplied: The lines that make the array, and multiply it.
        kernels: What both take, on the way back too, by leaf (ns).
        seen: How often that was seen: steps or samples.
    """

    made: SourceLine
    multiplied: SourceLine
    kernels: Mapping[TreePath, int]
    seen: float | None


@dataclass(frozen=True)
class Written:
    """What the source says of such a product.

    Attributes:
        made: The line that makes the array.
        name: The function that multiplies it; None: that multiplies other arrays, too.
    """

    made: SourceLine
    name: str | None


def claims(case: Case) -> Iterator[Claim]:
    """One, where it takes much of the steps."""
    found = of_case(case)
    if found is None:
        return
    pages = int(_SAVES * new_pages.of_kernels_ns(case, found.kernels))
    anew = ", in memory that is new each time," if pages else ""
    yield Claim(
        Sentence(
            f"The one-hot array made in line {found.made[1]} is multiplied {_where(found)}, which only picks rows; to "
            f"make it{anew} and to multiply it, on the way back too, takes"
        ),
        new_pages.beside_kernels(case, Tree.FIT_STEPS, heavy_weights.scaled(dict(found.kernels), _SAVES), pages),
        [queries.operators(), *([new_pages.SAMPLES] if pages else [])],
        "Look the rows up by their numbers (an embedding), which makes no array of as many columns as there are "
        "numbers, and multiplies nothing.",
        found.made,
        title=one_hot.TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=found.seen),
        fix=_FIX.get(case.engine.name),
    )


def _where(found: OneHotProduct) -> str:
    return "there" if found.multiplied == found.made else f"in line {found.multiplied[1]}"


def of_case(case: Case) -> OneHotProduct | None:
    """The product, where it is told what it takes, and that is much; None: it is not."""
    if case.pair or not case.tree.layers or case.run.rows("layers"):
        return None
    found = written(case)
    if not found:
        return None
    told = _by_kernels(case, found) or _by_samples(case, found) or _by_layer(case)
    if told is None or sum(told[0].values()) < _SHARE * max(1, case.own(Tree.FIT_STEPS)):
        return None
    longest = max(found, key=case.code.stood_ns)
    return OneHotProduct(found[longest].made, longest, *told)


def written(case: Case) -> Mapping[SourceLine, Written]:
    """Lines of the user's that multiply a one-hot array, in their order, for all that their function says."""
    files = sorted(case.code.user_files)
    if not any(source_one_hot.makes_any(case.code.lines(file)) for file in files):
        return {}
    every = [(file, one) for file in files for one in source_one_hot.products(case.code.lines(file))]
    others = {one.name for _, one in every if one.made is None}
    return {
        (file, one.line): Written((file, one.made), None if one.name in others else one.name)
        for file, one in sorted(every, key=lambda item: (item[0], item[1].line))
        if one.made is not None
    }


def _by_kernels(case: Case, found: Mapping[SourceLine, Written]) -> _Told | None:
    """What kernels of products and those that make the arrays take (ns); None: no line or name tells which."""
    if case.kernels.by_line:
        at_lines = case.kernels.line_times(lambda row: row["category"] == Category.MATMUL)
        chosen = sum(ns for line, ns in at_lines.items() if line in found)
    else:
        names = {one.name for one in found.values()} - {None}
        rows = kernels.summarise(case.run, "kernel", kinds=_WORKING).rows
        chosen = sum(row.self_ns for row in rows if row.category == Category.MATMUL and _scope(row) in names)
    whole = sum(row.total_ns for row in case.kernels.by_layer.rows if row.category == Category.MATMUL)
    making = _making(case)
    if not making or not chosen:
        return None
    multiplying = heavy_weights.scaled(by_leaf(case, _products(case)), min(1.0, chosen / max(1, whole)))
    return heavy_weights.added(by_leaf(case, making), multiplying), case.kernels.seen_steps


def _by_layer(case: Case) -> _Told | None:
    """The same where the layer that makes the array has a single product, in itself or in a layer of its own."""
    making = _making(case)
    homes = {one.layer for one in making}
    home = next(iter(homes)) if len(homes) == 1 else None
    if home is None:
        return None
    inside = [one for one in _products(case) if one.layer and re.match(rf"{re.escape(home)}([._/]|$)", one.layer)]
    if len({one.layer for one in inside}) != 1:
        return None
    return by_leaf(case, [*making, *inside]), case.kernels.seen_steps


def _making(case: Case) -> list[LayerTime]:
    return [one for one in case.tree.layers if one_hot.MAKES.search(one.op or "")]


def _products(case: Case) -> list[LayerTime]:
    return [one for one in case.tree.layers if one.category == Category.MATMUL]


def _scope(row: kernels.Row) -> str | None:
    """The function of products that a kernel is named after."""
    found = _SCOPE.search(str(row.keys["name"]))
    return found[1].lower() if found else None


def _by_samples(case: Case, found: Mapping[SourceLine, Written]) -> _Told | None:
    """The same by the stacks that stand in the lines; None: Python goes on before the work is done, or none stood.

    The gradient of the weights is as many multiplications as the product itself: it is taken for as long, and neither
    for longer than all products in its direction.
    """
    if case.asynchronous:
        return None

    makes = {one.made for one in found.values()}

    def is_there(sample: Sample) -> bool:
        return case.code.user_line(sample) in found.keys() | makes

    def multiplies(sample: Sample) -> bool:
        return case.code.user_line(sample) in found

    paths, inside = [Tree.FIT_STEPS], case.own(Tree.FIT_STEPS)
    forward = case.code.share(paths, is_there) * inside
    product = min(case.code.share(paths, multiplies) * inside, _products_ns(case, Direction.FORWARD))
    back = min(product, _products_ns(case, Direction.BACKWARD))
    all_kernels = Tree.FIT_STEPS / StepPart.KERNELS
    if not forward or not case.own(all_kernels):
        return None
    share = min(1.0, (forward + back) / case.own(all_kernels))
    return case.takes(all_kernels, share=share), case.code.support(paths, is_there).seen


def _products_ns(case: Case, direction: Direction) -> int:
    return sum(one.ns for one in _products(case) if one.direction == direction)
