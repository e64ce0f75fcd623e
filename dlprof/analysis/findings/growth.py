"""Equal work that takes longer each time: steps of one loop, by the order in which they ran."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers
from dlprof.analysis.findings.case import Case
from dlprof.schema.vocabulary import Loop, SpanKind

_UNUSUAL = 0.1
"""Share of batches of other shapes, above which the work of steps is not equal."""
_MOST = 200_000
"""Of more steps each n-th is looked at."""
_FEWEST = 20
"""Fewer steps tell no trend."""
_PARTS = 5
"""The steps are looked at in so many stretches of equal number."""
_RISES = 0.6
"""Rank correlation of the times with their order, from which on they grow."""
_LONG = 2.0
"""Of steps of which only some grow, these take so many times as long as most, at the end."""
_REGULAR = 0.6
"""Share of them that come equally far apart."""
_UNLIKE = 1.5
"""Steps that mostly take no longer than so many times what others take are like them."""
_FEW = 5
"""Of less no trend is told at all."""
_RISES_OF_FEW = 0.8
_GREW = 1.5
"""The last stretch takes so much longer than the first, at least."""
_LEVELS_OFF = 0.3
"""Share of the whole growth that the last two of five stretches have, below which it levels off: half of it if even."""


SHARE_OF_WORK = 0.10
"""Share of the work that growth must have cost to be told."""
_MOSTLY = 0.5
"""Share of the growth that callbacks have, from which on they are what grows."""


@dataclass(frozen=True)
class Growth:
    """Steps that take longer and longer.

    Attributes:
        count: How many there are.
        first_ns, last_ns: Median of the first fifth (of a few: third), and of the last.
        lost_ns: What they take beyond the first ones' time, in all.
        rank: Rank correlation of time and order: 1: each takes longer than the one before.
        in_callbacks: Share of the lost time by which callbacks in the steps grew: 0 to 1.
        period: It is each n-th step alone that grows; 1: all do.
        of_callbacks: Whether times and growth are those of the callbacks in the steps alone.
        levels_off: Whether most of it is over before the last stretches: what steps leave behind grows on.
        halves: When the first step began, half of them were over, and the last one was (ns); None: not of steps.
    """

    count: int
    first_ns: int
    last_ns: int
    lost_ns: int
    rank: float
    in_callbacks: float = 0.0
    period: int = 1
    of_callbacks: bool = False
    levels_off: bool = False
    halves: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class _Loop:
    """Steps of the longest training loop that did equal work, in their order.

    Attributes:
        starts, times, called: When each began, how long it and the callbacks in it took (ns).
        numbers: Its place among all steps of the loop.
        every: Only each n-th step of all was looked at.
    """

    starts: Integers
    times: Integers
    called: Integers
    numbers: Integers
    every: int

    def told(self, grown: Growth, called: Integers) -> Growth:
        """What grew, of all steps; `called` are the callbacks of those that grew."""
        return replace(
            grown,
            count=grown.count * self.every,
            lost_ns=grown.lost_ns * self.every,
            in_callbacks=min(1.0, _beyond_first(called) / max(1, grown.lost_ns)),
            halves=(
                int(self.starts[0]), int(self.starts[len(self.starts) // 2]), int(self.starts[-1] + self.times[-1])
            ),
        )  # fmt: skip


def of_steps(case: Case) -> Growth | None:
    """Of the longest training loop; None: its steps take equally long, do unequal work, or are too few."""
    loop = case.run.once("steps of the longest loop that are alike", lambda _run: _of_equal_work(case))
    if loop is None:
        return None
    grown = of_times(loop.times)
    if grown is not None:
        return loop.told(grown, loop.called)
    some = _longer_ones(loop.times, loop.numbers) if loop.every == 1 else None
    grown = of_times(loop.times[some]) if some is not None else None
    if some is None or grown is None:
        return None
    return replace(loop.told(grown, loop.called[some]), period=round(len(loop.times) / some.sum()))


def of_callbacks(case: Case) -> Growth | None:
    """The same of the callbacks in these steps alone, of which the steps may hide it; None: they take equally long."""
    loop = case.run.once("steps of the longest loop that are alike", lambda _run: _of_equal_work(case))
    grown = of_times(loop.called) if loop is not None else None
    if loop is None or grown is None:
        return None
    return replace(loop.told(grown, loop.called), of_callbacks=True)


def of_any(case: Case) -> Growth | None:
    """Of the steps; else of the callbacks in them, whose growth steps that take long themselves hide; None: little."""
    grown = of_steps(case) or of_callbacks(case)
    return grown if grown is not None and grown.lost_ns >= SHARE_OF_WORK * case.whole_ns else None


def in_callbacks(case: Case) -> Growth | None:
    """The same where callbacks are what grows, step by step; None: they are not."""
    grown = of_any(case)
    return grown if grown is not None and grown.period == 1 and grown.in_callbacks > _MOSTLY else None


def _of_equal_work(case: Case) -> _Loop | None:
    """Steady steps of the longest training loop; None: most do unequal work, or they are too few."""
    columns = ("loop", "loop_id", "start_ns", "dur_ns", "samples", "compiled", "first", "callbacks_ns")
    every = max(1, (case.loop.count if case.loop is not None else 0) // _MOST)
    table = case.run.filtered("steps", columns, lambda piece: _steady(piece, every))
    if table.num_rows < _FEWEST:
        return None
    table = table.sort_by("start_ns")
    loops = integers(pc.fill_null(table["loop_id"], -1))
    names, sums = np.unique(loops), np.bincount(np.unique(loops, return_inverse=True)[1])
    samples = integers(pc.fill_null(table["samples"], -1))
    longest = int(names[int(np.argmax(sums))])
    if _is_uneven(case, longest):
        return None
    chosen = loops == longest
    usual = np.bincount(samples[chosen] + 1).argmax() - 1
    alike = chosen & (samples == usual)
    starts, times = integers(table["start_ns"])[alike], integers(table["dur_ns"])[alike]
    called = integers(pc.fill_null(table["callbacks_ns"], 0))[alike]
    return _Loop(starts, times, called, np.flatnonzero(samples[chosen] == usual).astype(np.int64), every)


def _longer_ones(times: Integers, numbers: Integers) -> Truths | None:
    """Each n-th step, where these take longer than the others all along; None: none do, or not regularly.

    Args:
        times: Of the steps, in order.
        numbers: Their places among all steps of the loop, as some are left out.
    """
    if len(times) < _FEWEST:
        return None
    parts = np.array_split(np.arange(len(times)), _PARTS)
    last = parts[-1][times[parts[-1]] > _LONG * np.median(times[parts[-1]])]
    apart, count = np.unique(np.diff(numbers[last]), return_counts=True)
    if not len(apart) or count.max() < _REGULAR * count.sum() or apart[count.argmax()] < 2:
        return None
    phases = numbers % apart[count.argmax()]
    phase = int(np.bincount(phases[last]).argmax())
    return phases == phase if all(_is_longest(times[part], phases[part], phase) for part in parts) else None


def _is_longest(times: Integers, phases: Integers, phase: int) -> bool:
    """Whether no other phase has steps that are mostly longer than those of this one, and than usual."""
    usual = {int(one): float(np.median(times[phases == one])) for one in np.unique(phases)}
    return max(usual.values()) <= max(usual.get(phase, 0.0), _UNLIKE * float(np.median(times)))


def _is_uneven(case: Case, loop: int) -> bool:
    """Whether many batches that the script gave `train_on_batch` had another shape than most."""
    rows = case.run.chosen("spans", "kind", (SpanKind.ON_BATCH,), ("span_id", "detail"))
    told: dict[str, Any] = next((json.loads(row["detail"] or "{}") for row in rows if row["span_id"] == loop), {})
    unusual, whole = told.get("unusual_batches") or (0, 1)
    return bool(unusual > _UNUSUAL * whole)


def _steady(steps: pa.Table, every: int) -> pa.ChunkedArray:
    """Training steps in which nothing was compiled, each n-th of them."""
    compiled = pc.or_kleene(steps["compiled"], steps["first"])
    is_plain = pc.and_(pc.equal(steps["loop"].cast(pa.string()), Loop.TRAIN), pc.invert(pc.coalesce(compiled, False)))
    return pc.and_(is_plain, pa.chunked_array([np.arange(steps.num_rows) % every == 0]))


def of_times(times: Integers) -> Growth | None:
    """Of times in their order (ns); None: they do not grow all along."""
    if len(times) < _FEWEST:
        return None
    medians = [float(np.median(part)) for part in np.array_split(times, _PARTS)]
    rank = _rank_correlation(times)
    grows = all(later > earlier for earlier, later in pairwise(medians))
    if rank < _RISES or not grows or medians[-1] < _GREW * medians[0]:
        return None
    late = (medians[-1] - medians[-3]) / (medians[-1] - medians[0])
    lost_ns = min(_beyond_first(times), _beyond_usual(times, medians))
    return Growth(len(times), int(medians[0]), int(medians[-1]), lost_ns, rank, levels_off=late < _LEVELS_OFF)


def _beyond_usual(times: Integers, medians: Sequence[float]) -> int:
    """The same by the median of each stretch (ns): single steps that take long by chance are not what grows.

    The first times are those at a quarter of the first stretch, for all that its median and the next one's tell.
    """
    base = medians[0] - (medians[1] - medians[0]) / 4
    stretches = np.array_split(times, _PARTS)
    return int(sum(max(0.0, usual - base) * len(part) for usual, part in zip(medians, stretches, strict=True)))


def _beyond_first(times: Integers) -> int:
    """What times take beyond those that the first of them take (ns)."""
    base = float(np.quantile(np.array_split(times, _PARTS)[0], 0.25))
    return int(np.maximum(0, times - base).sum())


def of_few(times: Integers) -> Growth | None:
    """Of a few times in their order (ns), such as of models that are set up; None: they do not grow all along."""
    if len(times) < _FEW:
        return None
    thirds = [float(np.median(part)) for part in np.array_split(times, 3)]
    rank = _rank_correlation(times)
    if rank < _RISES_OF_FEW or not thirds[0] < thirds[1] < thirds[2] or thirds[2] < _GREW * thirds[0]:
        return None
    base = float(np.min(np.array_split(times, 3)[0]))
    return Growth(len(times), int(thirds[0]), int(thirds[2]), int(np.maximum(0, times - base).sum()), rank)


def _rank_correlation(times: Integers) -> float:
    """Spearman's, of the times with their order."""
    ranks = np.argsort(np.argsort(times, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(len(times)))[0, 1])
