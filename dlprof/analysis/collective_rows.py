"""The collectives that ranks recorded, side by side: the n-th of a kind and group in one is the n-th in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, integers
from dlprof.store.ranked import Member

Stream = tuple[str, str]
"""Kind and process group."""


@dataclass(frozen=True)
class Common:
    """The collectives of a stream that all of some ranks have; times are of each rank's own timeline (ns).

    Attributes:
        ranks: The rows of the arrays.
        start: When a rank came, by rank and collective.
        blocked_from: From when on it stood still for it.
        end: When it went on.
    """

    ranks: tuple[int, ...]
    start: Integers
    blocked_from: Integers
    end: Integers


def streams(members: Sequence[Member]) -> dict[Stream, dict[int, pa.Table]]:
    """Rows of the table `collectives` by stream and rank."""
    found: dict[Stream, dict[int, pa.Table]] = {}
    for member in members:
        rows = member.run.table("collectives")
        texts = [rows[name].cast(pa.string()) for name in ("kind", "process_group")]
        pairs = pa.table(texts, names=["kind", "group"]).group_by(["kind", "group"]).aggregate([]).to_pylist()
        for kind, group in sorted(((pair["kind"], pair["group"]) for pair in pairs), key=str):
            own = rows.filter(pc.and_(pc.equal(texts[0], kind), pc.equal(texts[1], group))) if len(pairs) > 1 else rows
            found.setdefault((kind, group), {})[member.rank] = own
    return found


def common(by_rank: Mapping[int, pa.Table]) -> Common | None:
    """The collectives that all of these ranks have; None: there are none, or not two ranks."""
    if len(by_rank) < 2:
        return None
    ranks = tuple(sorted(by_rank))
    ordinals = [integers(by_rank[rank]["ordinal"]) for rank in ranks]
    both: npt.NDArray[np.int64] = reduce(np.intersect1d, ordinals)
    if not len(both):
        return None
    rows: list[list[Integers]] = [[], [], []]
    for rank, own in zip(ranks, ordinals, strict=True):
        order = np.argsort(own, kind="stable")
        places = order[np.searchsorted(own[order], both)]
        table = by_rank[rank]
        start, dur = integers(table["start_ns"])[places], integers(table["dur_ns"])[places]
        blocked = integers(table["blocked_ns"])[places]
        for column, values in zip(rows, (start, start + dur - blocked, start + dur), strict=True):
            column.append(values)
    return Common(ranks, *(np.stack(column) for column in rows))
