"""How many samples steps had, by what Keras said of their loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.own.span_log import Span, SpanLog
from dlprof.ingest.own.step_log import Rows

_MOST = 2.0**62
_KNOWN_EPOCHS = 100_000
"""Epochs and calls that are kept: those that are older have ended."""


class _Batches(NamedTuple):
    """Batches of a loop: samples in each, the number of batches, and samples in the last; None: not known."""

    size: float | None
    last: float | None
    partial: float | None


class LoopFacts:
    """What is known of loops, looked up when their steps come.

    Args:
        spans: All spans of the stream.
    """

    def __init__(self, spans: SpanLog) -> None:
        self._spans = spans
        self._known: dict[int, Span | None] = {}
        self._batches: dict[int, _Batches] = {}
        self._seen: dict[tuple[int, int], int] = {}

    def learn(self, loops: Sequence[int]) -> None:
        """Look up the spans of loops; those that had no step for long are forgotten."""
        new = [loop for loop in loops if loop not in self._known]
        if new:
            found = self._spans.named(new)
            keep = {loop: self._known[loop] for loop in loops if loop in self._known}
            self._known = {**keep, **{loop: found.get(loop) for loop in new}}

    def name(self, loop: int) -> str:
        """Name of a loop's span; empty where there is none."""
        span = self._known[loop]
        return span.name if span is not None else ""

    def samples(self, rows: Rows) -> pa.Array:
        """Samples in each row; null where Keras did not say.

        Raises:
            OverflowError: What it said is too large.
        """
        loops, place = np.unique(rows["loop"], return_inverse=True)
        told = [_batches(self._known[loop]) for loop in loops.tolist()]
        known = np.array([one.size is not None for one in told])[place]
        size, last, partial = (
            np.array([one[n] if one[n] is not None else np.nan for one in told], np.float64)[place] for n in range(3)
        )
        count = rows["count"].astype(np.int64)
        before = seen(rows, self._seen)
        has_partial = known & (partial > 0) & (before < last) & (last <= before + count)
        found = np.where(has_partial, size * (count - 1) + partial, size * count)
        if known.any() and not (np.abs(found[known]) < _MOST).all():
            raise OverflowError("a batch is too large")
        return pa.array(np.where(known, found, 0).astype(np.int64), mask=~known)


def _batches(loop: Span | None) -> _Batches:
    detail: Mapping[str, Any] = loop.detail if loop else {}
    known = {"batch_size", "batches", "partial_batch_size", "samples"} & {*detail}
    if any(not isinstance(detail[name], int | float) for name in known if detail[name] is not None):
        return _Batches(None, None, None)
    batch = detail.get("batch_size")
    if not batch:
        return _Batches(None, None, None)
    if not math.isfinite(batch):
        raise ValueError("a batch has no size")
    last, partial = detail.get("batches"), detail.get("partial_batch_size")
    if last is None and detail.get("samples"):
        last, partial = -(-detail["samples"] // batch), detail["samples"] % batch
    return _Batches(float(batch), None if last is None else float(last), None if partial is None else float(partial))


def seen(rows: Rows, before: dict[tuple[int, int], int]) -> npt.NDArray[np.int64]:
    """Steps of the same epoch before each row, and those of the rows before; `before` is brought up to date."""
    keys, place = np.unique(_keys(rows), return_inverse=True)
    order = np.argsort(place, kind="stable")
    count = rows["count"].astype(np.int64)[order]
    sums = np.cumsum(count)
    group = place[order]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    known = np.array([before.get(_pair(key), 0) for key in keys.tolist()], np.int64)
    found = np.empty(len(rows), np.int64)
    found[order] = sums - count - (sums - count)[first][group] + known[group]
    totals = np.bincount(group, weights=count, minlength=len(keys)).astype(np.int64) + known
    if len(before) > _KNOWN_EPOCHS:
        before.clear()
    before.update(zip(map(_pair, keys.tolist()), totals.tolist(), strict=True))
    return found


def count(rows: Rows, steps_of: dict[tuple[int, int], int]) -> None:
    """Add the steps of each (loop, epoch), where they have an epoch."""
    rows = rows[rows["epoch"] >= 0]
    keys, place = np.unique(_keys(rows), return_inverse=True)
    sums = np.bincount(place, weights=rows["count"], minlength=len(keys)).astype(np.int64)
    for key, steps in zip(map(_pair, keys.tolist()), sums.tolist(), strict=True):
        steps_of[key] = steps_of.get(key, 0) + steps


def _keys(rows: Rows) -> npt.NDArray[np.int64]:
    return (rows["loop"].astype(np.int64) << 32) | (rows["epoch"].astype(np.int64) & 0xFFFFFFFF)


def _pair(key: int) -> tuple[int, int]:
    """Loop and epoch of a key."""
    epoch = key & 0xFFFFFFFF
    return key >> 32, epoch - (1 << 32) if epoch >= 1 << 31 else epoch
