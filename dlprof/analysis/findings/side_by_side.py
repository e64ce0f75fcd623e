"""Many layers that are alike, called one after the other in a loop of Python, each with little to do.

A layer for each column, head, expert or member: none needs what another has computed, so that one operation over all
their weights does the same. A deep network is none: each of its layers takes what the one before it gave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import source_loops
from dlprof.analysis.findings import called_loops, doing, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.kernels import Row
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, MemoryKind
from dlprof.units import duration

_TITLE = Title("Layers that are alike were called one by one", "calling layers that are alike one by one")
_FEWEST = 8
"""Layers; fewer cost little to call, and their weights are easier to read apart."""
_SMALL_NS = 100_000
"""From here on an operator has enough to do for starting it to be nothing."""
_SHARE = 0.3
"""Share of the operators' time that such layers have, forward and back, from which on they are a cause."""
_SHARE_OF_WORK = 0.05
_STOOD = 0.15
"""Share of the samples of the steps that stand in the loop: going back, no frame of it is there."""
_SAVES = 0.9
_WORKING = (Category.MATMUL, Category.CONV, Category.EMBEDDING)
_FIXES = {
    "torch": "weights of shape (N, inputs, outputs), and torch.einsum or torch.bmm over all at once; for N tables one "
    "nn.Embedding, with an offset for each",
    "tensorflow": "weights of shape (N, inputs, outputs), and tf.einsum over all at once; for N tables one Embedding, "
    "with an offset for each",
    "jax": "jax.vmap over stacked weights (jax.tree.map(lambda *one: jnp.stack(one), ...))",
    "mxnet": "weights of shape (N, inputs, outputs), and batch_dot over all at once; for N tables one nn.Embedding, "
    "with an offset for each",
}
_FIX_OF_KERAS = (
    "one layer with weights of shape (N, inputs, outputs), and keras.ops.einsum (or EinsumDense) over all at once; for "
    "N tables one Embedding, with an offset for each"
)


@dataclass(frozen=True)
class Alike:
    """Layers that run the same operator equally often.

    Attributes:
        names: Their names.
        op: The operator.
        mean_ns: How long it takes each time (ns).
        share: Of the time of all operators: what theirs have, forward and back.
    """

    names: tuple[str, ...]
    op: str
    mean_ns: float
    share: float


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where the main thread was seen in such a loop."""
    if case.tree.unsplit is not None or case.devices.foreign:
        return
    found = alike(case.kernels.operators.rows)
    if found is None or found.share < _SHARE:
        return
    line, part = _loop(case)
    saved = _SAVES * (1 - found.mean_ns / _SMALL_NS) * (1 - 1 / len(found.names))
    seen = part + _going_back(case, found)
    takes = case.takes(Tree.FIT_STEPS, share=saved * min(1.0, max(found.share, seen) + _updating(case, found)))
    if line is None or sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    fix = _FIX_OF_KERAS if case.run.manifest.keras is not None else _FIXES.get(case.backend)
    yield Claim(
        Sentence(
            f"{len(found.names)} layers such as {found.names[0]} are called one by one, and {found.op} takes "
            f"{duration(found.mean_ns)} in each; they have {100 * found.share:.0f} % of the operators' time:"
        ),
        takes,
        [queries.operators(by="layer, op")],
        "Compute them all at once, as one operation over weights that are stacked, where none needs what another has "
        "computed: then each step starts a few large operators, forward and back.",
        line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=case.kernels.seen_steps, agree=found.share),
        fix=fix,
    )


def alike(rows: Sequence[Row]) -> Alike | None:
    """The layers that are alike and have most time; None: there are not enough, or what they do is not small.

    Args:
        rows: Operators, by layer.
    """
    groups: dict[tuple[str, int], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row.layer is not None and row.op and row.direction == Direction.FORWARD and row.category in _WORKING:
            groups[row.op, row.count][row.layer] = row
    groups = {key: found for key, found in groups.items() if len(found) >= _FEWEST}
    if not groups:
        return None
    (op, count), members = max(groups.items(), key=lambda group: sum(row.total_ns for row in group[1].values()))
    mean_ns = sum(row.total_ns for row in members.values()) / max(1, count * len(members))
    if mean_ns >= _SMALL_NS:
        return None
    theirs = sum(row.total_ns for row in rows if row.layer in members)
    return Alike(tuple(members), op, mean_ns, theirs / max(1, sum(row.total_ns for row in rows)))


def _going_back(case: Case, found: Alike) -> float:
    """Share of the steps in which an engine goes back through what these layers have started, by the samples.

    Going back no frame of Python tells whose operators these are: it is their part of all of them, by number.
    """
    back = [row for row in case.kernels.operators.rows if row.direction == Direction.BACKWARD]
    theirs = sum(row.count for row in back if row.layer in found.names) / max(1, sum(row.count for row in back))
    return theirs * case.code.share([Tree.FIT_STEPS], lambda sample: doing.goes_back(sample.frames, case.engine))


def _updating(case: Case, found: Alike) -> float:
    """Share of the steps in which an optimiser updates the weights of these layers, an array at a time.

    Stacked weights are one array, however many layers there were: it is their part of all arrays, by number. An
    optimiser that updates all arrays with the same few operators takes no longer for many of them.
    """
    rows = case.kernels.operators.rows
    updates = [row for row in rows if row.direction == Direction.UPDATE]
    arrays = [row for row in case.run.rows("memory_owners") if row["kind"] == MemoryKind.PARAMETERS]
    started = sum(row.count for row in updates)
    taken = sum(row.total_ns for row in updates)
    if not arrays or started < len(arrays) * case.kernels.window_steps or taken >= _SMALL_NS * started:
        return 0.0
    names = set(found.names)
    theirs = sum(not names.isdisjoint((row["layer"], *(row["name"] or "").split("/"))) for row in arrays)
    return theirs / len(arrays) * taken / max(1, sum(row.total_ns for row in rows))


def _loop(case: Case) -> tuple[SourceLine | None, float]:
    """The line of a loop that calls layers, in code that the engine calls, in which the main thread stood longest.

    None: it hardly stood in one, or each turn takes what the one before it gave. And its share of the steps.
    """
    times = called_loops.stood(case, source_loops.side_by_side)
    whole = sum(one.dur_ns for one in case.code.samples if one.main and Tree.FIT_STEPS.holds(one.phase))
    longest = max(times, key=lambda place: times[place], default=None)
    part = times[longest] / whole if longest is not None else 0.0
    return ((longest.file, longest.line), part) if longest is not None and part >= _STOOD else (None, part)
