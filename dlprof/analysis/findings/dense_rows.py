"""A table whose rows a model looks up, and whose gradient has all of them, not only those."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import integers
from dlprof.analysis.findings import heavy_weights
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.heavy_weights import Weights
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Category, Direction, SpanKind
from dlprof.store.run import Run

SAVED = 0.9
"""What is left is the update of the rows that were looked up."""
_SHARE_OF_WEIGHTS = 0.5
_LARGE = 2_000_000
"""Numbers; less is updated in no time."""
_ROWS_A_ROW = 4
"""The table has so many times the rows that a step can look up at most."""
_SHARE_OF_WORK, _SHARE_OF_STEPS = 0.05, 0.20
_RIGHT_BEHIND, _AS_LONG = 0.1, 0.25
"""Of the time for making a gradient of all rows: how soon after it an operator begins that takes it, and what that
takes at least."""
_NEVER_NS = 1 << 62
"""No operator takes so long."""
_UPDATES = 0.25
"""Of the time for making a gradient of all rows, what updating as many takes at least."""


@dataclass(frozen=True)
class DenseRows:
    """Such a table.

    Attributes:
        weights: It.
        others: Smaller tables of its model of which that is true, too.
        looked_up: Rows that a step looks up at most; None: not known.
        kernels: What its gradient and its update take, as far as they need not be, by leaf (ns).
    """

    weights: Weights
    others: tuple[Weights, ...]
    looked_up: int | None
    kernels: Mapping[TreePath, int]

    @property
    def share(self) -> float:
        """What all of these are of the numbers that the model trains: 0 to 1."""
        return self.weights.share + sum(one.share for one in self.others)


def found(case: Case, weights: Weights | None) -> DenseRows | None:
    """The table, where the largest weights of a run are one, and it is worth a word.

    Args:
        case: The run, whose steps are split.
        weights: Its largest weights; None: not told.
    """
    if weights is None or weights.count < _LARGE or not _is_sparse(case, weights):
        return None
    others = tuple(one for one in heavy_weights.of_model(case)[1:] if _is_sparse(case, one))
    share = weights.share + sum(one.share for one in others)
    if share < _SHARE_OF_WEIGHTS:
        return None
    back = (heavy_weights.of_layer(case, one.layer, Direction.BACKWARD) for one in (weights, *others))
    kernels = heavy_weights.added(
        heavy_weights.scaled(heavy_weights.updates(case), SAVED * share),
        heavy_weights.scaled(heavy_weights.added(*back), SAVED),
    )
    return DenseRows(weights, others, _looked_up(case, weights), kernels) if is_much(case, kernels) else None


def _is_sparse(case: Case, weights: Weights) -> bool:
    """Whether it is a table of many times the rows that a step looks up."""
    if not _is_embedding(case, weights):
        return False
    looked_up = _looked_up(case, weights)
    return looked_up is None or weights.shape[0] >= _ROWS_A_ROW * looked_up


def by_conversions(case: Case) -> Mapping[TreePath, int] | None:
    """The same where an operator of the engine's makes rows to a whole, before weights are updated as a whole (ns).

    No shapes need be known. None: there is no such operator, or it is not worth a word.
    """
    made = heavy_weights.of_operators(case, case.engine.densifying_operators)
    updates = heavy_weights.updates(case)
    if not made or sum(updates.values()) < _UPDATES * sum(made.values()):
        return None  # sums over groups of rows are made for other ends, too
    takes = heavy_weights.scaled(heavy_weights.added(made, _on_the_way(case), updates), SAVED)
    return takes if is_much(case, takes) else None


def _on_the_way(case: Case) -> dict[TreePath, int]:
    """Operators that go through the whole between its making and the update, such as those that scale it (ns).

    They run on the same thread right behind it, one after the other, and each takes about as long.
    """
    rows = {row["op_id"]: row for row in case.run.rows("kernel_ops")}
    made = {number for number, row in rows.items() if row["op"] in case.engine.densifying_operators}
    updates = {number for number, row in rows.items() if _updates(row)}
    events, of_op = _long_events(case.run, made, updates)
    sums: Counter[str | None] = Counter()
    behind: dict[str, tuple[int, int]] = {}  # lane to the end of what was made last there, and how long that took
    for event in sorted(events, key=itemgetter("start_ns")):
        number, lane, start, own = event["op_id"], event["lane"], event["start_ns"], event["own_ns"]
        ended, took = behind.get(lane, (0, 0))
        if number in made:
            behind[lane] = start + event["dur_ns"], own
        elif number in updates:
            behind.pop(lane, None)
        elif took and number in rows and start - ended <= _RIGHT_BEHIND * took and own >= _AS_LONG * took:
            sums[rows[number]["category"]] += own
            behind[lane] = start + event["dur_ns"], took
    of_category: Counter[str | None] = Counter()
    for number, ns in of_op.items():
        if number in rows:
            of_category[rows[number]["category"]] += ns
    return {
        leaf: int(case.own(leaf) * ns / of_category[category])
        for category, ns in sums.items()
        if (leaf := case.tree.kernels_leaf(category))
    }


def _updates(row: Mapping[str, Any]) -> bool:
    return bool(row["direction"] == Direction.UPDATE or row["category"] == Category.OPTIMISER)


def _long_events(run: Run, made: set[int], updates: set[int]) -> tuple[list[dict[str, Any]], Counter[int]]:
    """Events that may go through the whole, and what each operator takes in all (ns): a trace may hold millions."""
    columns = ("op_id", "lane", "start_ns", "dur_ns", "nested_ns")
    of_op: Counter[int] = Counter()
    pieces, least = [], _NEVER_NS
    for piece in run.pieces("kernel_events", columns):
        number, own = integers(piece["op_id"]), integers(piece["dur_ns"]) - integers(piece["nested_ns"])
        each, inverse = np.unique(number, return_inverse=True)
        for op, ns in zip(each.tolist(), np.bincount(inverse, weights=own).tolist(), strict=True):
            of_op[op] += int(ns)
        is_made = np.isin(number, list(made))
        least = int(own[is_made].min(initial=least))
        kept = is_made | np.isin(number, list(updates)) | (own >= _AS_LONG * least)
        pieces.append(piece.append_column("own_ns", pa.array(own)).filter(pa.array(kept)))
    return [row for piece in pieces for row in piece.to_pylist()], of_op


def is_much(case: Case, takes: Mapping[TreePath, int]) -> bool:
    """Whether it is worth a word: small tables are updated as a whole in most models."""
    steps = case.own(case.steps) if case.steps is not None else 0
    return sum(takes.values()) >= max(_SHARE_OF_WORK * case.whole_ns, _SHARE_OF_STEPS * steps)


def _is_embedding(case: Case, weights: Weights) -> bool:
    """Whether it is a table: by the class of its layer, else by its kernels."""
    kind = heavy_weights.class_of(case, weights.layer)
    if kind is not None:
        return "Embedding" in kind
    if len(weights.shape) != 2:
        return False
    mine = [one for one in case.tree.layers if one.layer == weights.layer and not heavy_weights.is_update(one)]
    return bool(mine) and any(one.category == Category.EMBEDDING for one in mine)


def _looked_up(case: Case, weights: Weights) -> int | None:
    """Rows that a step looks up at most; None: not known."""
    rows = (row for row in case.run.rows("layers") if row["layer"] == weights.layer and row["output"])
    lengths = next((row["output"].split("x") for row in rows), ())
    if lengths and all(one.isdigit() for one in lengths):
        return math.prod(int(one) for one in lengths[:-1])
    told = next((call.detail for call in case.calls.of(SpanKind.FIT) if call.detail_json), {})
    batch = told.get("batch_size")
    if batch and lengths and all(one.isdigit() for one in lengths[1:-1]):
        return int(batch) * math.prod(int(one) for one in lengths[1:-1])
    return None
