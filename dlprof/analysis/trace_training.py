"""Which steps of a foreign trace train, where their names do not say it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, integers, truths
from dlprof.schema.vocabulary import Category, Direction, EventKind
from dlprof.store.run import Run

_COLUMNS = ("op_id", "window", "device", "lane", "start_ns")


def of_steps(run: Run, windows: Collection[int], lane: str | None, steps: Sequence[tuple[int, int]]) -> list[bool]:
    """Whether each step trains: whether work of a backward pass, or of an optimiser, began in it.

    A device, and threads to which work is handed, may do it later, in another step. So steps are told apart only where
    the thread that marks them trains itself: of those in which it ran operators, and nothing trained, none does.
    Else all train if one does.

    Args:
        run: The run.
        windows: The files that the steps are in.
        lane: The thread that marks them; None: there is none.
        steps: Begin and end of each (ns), in order and without overlap.
    """
    begins, ends = (np.asarray(edges, np.int64) for edges in zip(*steps, strict=True))
    ops = run.rows("kernel_ops")
    training = pa.array([op["op_id"] for op in ops if _is_of_training(op)], pa.int32())
    operators = pa.array([op["op_id"] for op in ops if op["kind"] == EventKind.OPERATOR.word], pa.int32())
    trained, on_host, by_itself, worked = np.zeros((4, len(steps)), np.int64)
    for piece in run.pieces("kernel_events", _COLUMNS) if len(training) else ():
        rows = piece.filter(pc.is_in(piece["window"], pa.array(list(windows), piece["window"].type)))
        at = _places(begins, ends, integers(rows["start_ns"]))
        trains, operates = (truths(pc.is_in(rows["op_id"], ids)) for ids in (training, operators))
        host = integers(rows["device"]) < 0
        own = host & truths(pc.equal(rows["lane"].cast(pa.string()), lane or ""))
        for seen, chosen in (
            (trained, trains),
            (on_host, trains & host),
            (by_itself, trains & own),
            (worked, operates & own),
        ):
            np.add.at(seen, at[chosen & (at >= 0)], 1)
    if lane is None or not by_itself.any():
        return [bool(trained.any())] * len(steps)
    known: list[bool] = ((on_host > 0) | (worked == 0)).tolist()
    return known


def _places(begins: Integers, ends: Integers, start: Integers) -> Integers:
    """The step that each moment is in, or -1."""
    at = np.searchsorted(begins, start, "right") - 1
    inside: Integers = np.where((at >= 0) & (start < ends[np.maximum(at, 0)]), at, -1)
    return inside


def _is_of_training(op: Mapping[str, Any]) -> bool:
    return op["direction"] in (Direction.BACKWARD, Direction.UPDATE) or op["category"] == Category.OPTIMISER
