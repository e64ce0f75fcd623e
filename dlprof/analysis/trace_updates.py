"""Which updates by optimisers end an iteration of a foreign trace, where several of one class share it.

Ranges of updates are named after the class of the optimiser: those of a generator and of a discriminator, both of Adam,
look alike. What ran between them tells them apart. Nobody computes no gradient between two updates of one optimiser;
and where what the backward passes between updates compute repeats with every k-th update, and each of the k is unlike
the others, k updates are what repeats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import integers
from dlprof.schema.vocabulary import Direction, EventKind
from dlprof.store.run import Run

_COLUMNS = ("op_id", "window", "device", "start_ns")
_TURNS = 2
"""So many times must a pattern be seen whole to be one."""
_SURE = 3
"""Sequences of two lengths may take turns twice by chance: what is claimed of a pattern, was seen so many times."""

_LONGEST = 16
"""Updates in an iteration at most: longer patterns are not looked for, which keeps the search linear."""

Signature = frozenset[tuple[str, int]]
"""Operators, and how often each ran."""


@dataclass(frozen=True)
class Iterations:
    """Where iterations end.

    Attributes:
        ends: Ends of the last update of each (ns), in order.
        updates: Updates in each, at most.
        is_unsure: Whether work takes turns as that of several optimisers would, which does not show that it is theirs.
    """

    ends: tuple[int, ...]
    updates: int = 1
    is_unsure: bool = False


def of_updates(run: Run, window: int, ends: Sequence[int]) -> Iterations:
    """The iterations of a thread.

    Args:
        run: The run.
        window: The file, or process of one, that the thread is in.
        ends: Where its updates end (ns), in order.
    """
    if len(ends) < _TURNS:
        return Iterations(tuple(ends))
    backward, whole = _between(run, window, ends)
    groups = _joined(backward)
    last = [group[-1] for group in groups]
    most = max(map(len, groups))
    gradients = [_sum(backward[at] for at in group) for group in groups]
    period = _period(gradients)
    if period == 1:
        turns = _period([_sum(whole[at] for at in group) for group in groups]) > 1
        return Iterations(tuple(ends[at] for at in last), most, turns)
    is_seldom = len(gradients) - 1 < _SURE * period
    if is_seldom or len(set(gradients[1 : 1 + period])) < period:  # five of one, one of another: what is an iteration?
        return Iterations(tuple(ends[at] for at in last), most, is_unsure=True)
    chosen = last[period - 1 :: period]
    return Iterations(tuple(ends[at] for at in chosen), int(np.diff([-1, *chosen]).max()))


def _between(run: Run, window: int, ends: Sequence[int]) -> tuple[list[Counter[str]], list[Counter[str]]]:
    """Operators that began on the host since the update before each: those of a backward pass, and all of them."""
    operators = {op["op_id"]: op for op in run.rows("kernel_ops") if op["kind"] == EventKind.OPERATOR.word}
    backward: list[Counter[str]] = [Counter() for _ in ends]
    whole: list[Counter[str]] = [Counter() for _ in ends]
    for piece in run.pieces("kernel_events", _COLUMNS) if operators else ():
        rows = piece.filter(pc.is_in(piece["op_id"], pa.array(list(operators), pa.int32())))
        rows = rows.filter(pc.and_(pc.equal(rows["window"], window), pc.less(rows["device"], 0)))
        at = np.searchsorted(np.asarray(ends), integers(rows["start_ns"]), "right")
        pairs, counts = np.unique(np.stack([at, integers(rows["op_id"])]), axis=1, return_counts=True)
        for (place, number), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            if place < len(ends):
                op = operators[number]
                whole[place][op["name"] or ""] += count
                if op["direction"] == Direction.BACKWARD:
                    backward[place][op["name"] or ""] += count
    return backward, whole


def _joined(backward: Sequence[Counter[str]]) -> list[list[int]]:
    """Updates with no backward pass between them, where other updates have one: they use what one pass computed."""
    groups: list[list[int]] = []
    for at, work in enumerate(backward):
        if groups and not work and any(backward):
            groups[-1].append(at)
        else:
            groups.append([at])
    return groups


def _sum(parts: Iterable[Counter[str]]) -> Signature:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return frozenset(total.items())


def _period(signatures: Sequence[Signature]) -> int:
    """After how many updates the work repeats; 1: it always does, or is not known to take turns.

    Before the first update some may be missing: the trace may have begun in the middle.
    """
    seen = signatures[1:]
    for period in range(1, min(_LONGEST, len(seen) // _TURNS) + 1):
        if all(one == other for one, other in zip(seen, seen[period:], strict=False)):
            return period
    return 1
