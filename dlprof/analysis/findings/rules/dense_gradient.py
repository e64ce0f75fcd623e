"""All rows of a large embedding are updated in each step, of which it looks up a few."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import loops
from dlprof.analysis.findings import dense_rows, heavy_weights, new_pages, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.dense_rows import DenseRows
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, StepPart

TITLE = Title("All rows of a large embedding were updated in each step", "updating all rows of a large embedding")
_FIXES = {
    "torch": "nn.Embedding(..., sparse=True), and torch.optim.SparseAdam (or SGD) for its weights",
    "mxnet": "gluon.nn.Embedding(..., sparse_grad=True), with an optimiser that has lazy_update=True (sgd, adam)",
    "tensorflow": "the gradient of tf.nn.embedding_lookup is one of rows (tf.IndexedSlices): apply it by SGD, or with "
    "table.scatter_sub(tf.IndexedSlices(rate * g.values, g.indices))",
    "jax": "take the gradient by the rows: rows = table[ids]; g = jax.grad(loss)(rows); table.at[ids].add(-rate * g)",
}
"""By engine, in loops without Keras."""
_ADVICE = (
    "Have the gradient hold only the rows that were looked up, and an optimiser that updates only those; or make the "
    "table smaller (fewer words, hashing; of identifiers that leave gaps, number those that occur: np.unique(ids, "
    "return_inverse=True))."
)
_TIMES_FORWARD = 8
"""Going back takes so many times what looking up took, where it goes through all rows."""
_TABLES = r"\bEmbedding\(|EmbeddingBag\(|embedding_lookup\("
_LOOKS_UP = rf"{_TABLES}|\b(take|gather|embedding|index_select)\("
_TIMES_LOOKED_UP = 20
"""Updating all rows takes so many times what looking some up takes, at least."""
_PRODUCTS = (Category.MATMUL, Category.CONV, Category.RECURRENT)
_OF_PRODUCTS = 0.25
"""Of the update's time: weights of products are gone through by the products of each step, too."""
_OWNERS = Query(
    "the largest arrays of weights",
    "SELECT layer, name, shape, bytes FROM memory_owners WHERE kind = 'parameters' ORDER BY bytes DESC LIMIT 4",
)


@of_the_slower
def look(case: Case) -> Iterator[Claim]:
    """Kernels of the update, and those that make the gradient of an embedding, by its share of the weights."""
    if case.steps is None or case.tree.unsplit is not None:
        raise Abstain(f"the steps are not split: {case.tree.unsplit or 'there are none'}")
    weights = heavy_weights.largest(case)
    if weights is None:
        yield from list(_by_conversions(case, case.steps)) or list(_by_kernels(case)) or _by_updates(case)
        return
    table = dense_rows.found(case, weights)
    if table is None:
        return
    few = f"no more than {table.looked_up:,}" if table.looked_up is not None else "a few"
    pages = int(dense_rows.SAVED * new_pages.of_weights_ns(case, weights))
    anew = ", in memory that is new each time," if pages else ""
    yield Claim(
        Sentence(
            f"Each step makes a gradient for all rows of {weights.text}{_more(table)}{anew} and updates them, though "
            f"it looks up {few}; that takes"
        ),
        _with_giving_back(case, case.steps, table, pages),
        [_OWNERS, queries.operators(), *([new_pages.SAMPLES] if pages else [])],
        _ADVICE,
        _line(case),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps, agree=table.share),
        fix=_fix(case),
    )


def _more(table: DenseRows) -> str:
    count = len(table.others)
    return f" and of {count} smaller table{'s' * (count > 1)}" if count else ""


def _with_giving_back(case: Case, steps: TreePath, table: DenseRows, pages_ns: int) -> dict[TreePath, int]:
    """What its kernels take, and pages beside them; of these at least what a call that lets gradients go stands in."""
    takes = new_pages.beside_kernels(case, steps, table.kernels, pages_ns)
    let_go = case.code.share((steps,), lambda sample: sample.frames[0].name in case.engine.letting_gradients_go)
    if pages_ns and let_go:
        given_back = dense_rows.SAVED * table.share * let_go * case.own(steps)
        quiet = (steps / part for part in (StepPart.HOST_PYTHON, StepPart.IDLE, StepPart.DISPATCH))
        for leaf, ns in case.filled(given_back, *quiet).items():
            takes[leaf] = max(takes.get(leaf, 0), ns)
    return takes


def _by_conversions(case: Case, steps: TreePath) -> Iterator[Claim]:
    """An operator of the engine's that makes rows to a whole, before weights are updated as a whole."""
    kernels = dense_rows.by_conversions(case)
    if kernels is None:
        return
    pages = int(dense_rows.SAVED * new_pages.of_kernels_ns(case, kernels))
    yield Claim(
        Sentence(
            "Each step makes a gradient for all rows out of one that has only those looked up "
            f"({', '.join(case.engine.densifying_operators)}), and updates all of them; that takes"
        ),
        new_pages.beside_kernels(case, steps, kernels, pages),
        [queries.operators(), *([new_pages.SAMPLES] if pages else [])],
        _ADVICE,
        case.code.written(r"\bconvert_to_tensor\(|\.assign_sub\(") or _line(case),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
        fix=_fix(case),
    )


def _by_kernels(case: Case) -> Iterator[Claim]:
    """Where no shapes were told: going back through a look-up takes many times what looking up took."""
    times: dict[str, dict[str, int]] = {}
    for one in case.tree.layers:
        if one.category == Category.EMBEDDING and one.layer is not None and one.direction is not None:
            sums = times.setdefault(one.layer, {})
            sums[one.direction] = sums.get(one.direction, 0) + one.ns
    back = {layer: sums.get(Direction.BACKWARD, 0) for layer, sums in times.items() if Direction.FORWARD in sums}
    layer = max(back, key=lambda name: back[name], default=None)
    if layer is None or back[layer] < _TIMES_FORWARD * max(1, times[layer][Direction.FORWARD]):
        return
    takes = heavy_weights.added(
        heavy_weights.scaled(heavy_weights.updates(case), dense_rows.SAVED),
        heavy_weights.scaled(heavy_weights.of_layer(case, layer, Direction.BACKWARD), dense_rows.SAVED),
    )
    if not dense_rows.is_much(case, takes):
        return
    ratio = back[layer] / max(1, times[layer][Direction.FORWARD])
    yield Claim(
        Sentence(
            f"Going back through the look-ups of {layer} takes {ratio:.0f} x what looking up takes: its gradient is "
            "made for all of its rows, which are updated all; that takes"
        ),
        takes,
        [queries.operators()],
        _ADVICE,
        _line(case),
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=1 - _TIMES_FORWARD / (2 * ratio)),
        fix=_fix(case),
    )


def _by_updates(case: Case) -> Iterator[Claim]:
    """Where no shapes were told: weights that hardly anything but look-ups goes through, and updates do."""
    updates = heavy_weights.updates(case)
    whole = sum(updates.values())
    looks = [one for one in case.tree.layers if one.category == Category.EMBEDDING]
    looked_up = sum(one.ns for one in looks if one.direction != Direction.BACKWARD)
    products = sum(one.ns for one in case.tree.layers if one.category in _PRODUCTS)
    takes = heavy_weights.scaled(updates, dense_rows.SAVED)
    line = case.code.line_like(_LOOKS_UP) or case.code.written(_LOOKS_UP)
    if not looked_up or whole < _TIMES_LOOKED_UP * looked_up or products > _OF_PRODUCTS * whole or line is None:
        return
    if loops.is_any_of_keras(case.run) or not dense_rows.is_much(case, takes):
        return
    agree = 1 - _TIMES_LOOKED_UP * looked_up / (2 * whole)
    yield Claim(
        Sentence(
            f"Updating the weights takes {whole / looked_up:.0f} x what looking rows up takes, and products that go "
            "through as many weights are not there: all rows of a table have a gradient and are updated; that takes"
        ),
        takes,
        [queries.operators()],
        _ADVICE,
        line,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=agree),
        fix=_fix(case),
    )


def _line(case: Case) -> SourceLine | None:
    return case.code.line_like(_TABLES)


def _fix(case: Case) -> str | None:
    if loops.is_any_of_keras(case.run):
        return "Embedding(..., trainable=False) where the vectors are given; else fewer rows (Hashing(num_bins=...))"
    return _FIXES.get(case.backend)
