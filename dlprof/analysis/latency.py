"""Latencies of predictions: how long each call took, from whatever thread, as a server's clients would see it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.loops import FoundBy
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run

ON_BATCH = "predict_on_batch"
_LEAST = {50: 2, 95: 20, 99: 100}
"""From fewer calls a percentile would be the slowest call alone."""
_COLUMNS = (
    "kind", "name", "thread_id", "thread", "span_id", "start_ns", "dur_ns", "ended", "file", "line", "detail",
)  # fmt: skip
_Key = tuple[str, str | None, int | None]
_Thread = tuple[int, str | None]
"""Number and name: a number is given again when its thread has ended, as where a server has one for each request."""


@dataclass(frozen=True)
class CallLatency:
    """Calls of one function on one line, over all threads.

    Attributes:
        name: `predict` or `predict_on_batch`; of a script with marks, `predict` is the marked part.
        file: The calling file; None: not known.
        line: Its line.
        count: Calls that returned.
        threads: Threads that made them.
        first_ns: The first call, with what is compiled in it (ns).
        p50_ns: Median over all calls but the first (ns); None: fewer than 2, or calls were recorded in sums.
        p95_ns: 95th percentile of the same, by nearest rank (ns); None: fewer than 20 calls.
        p99_ns: 99th percentile of the same (ns); None: fewer than 100 calls.
        max_ns: The slowest call but the first (ns); None: there was none, or calls were recorded in sums.
        total_ns: All calls together (ns); of several threads more than the time that passed.
    """

    name: str
    file: str | None
    line: int | None
    count: int
    threads: int
    first_ns: int
    p50_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    total_ns: int


@dataclass
class _Calls:
    times: list[tuple[int, int]] = field(default_factory=list)
    """Begin and duration of each (ns)."""
    threads: set[_Thread] = field(default_factory=set)
    beside: int = 0
    """Calls of which only the sum is known."""
    beside_ns: int = 0


def of_run(run: Run) -> tuple[CallLatency, ...]:
    """The calls of each place, those that took most in all first. Calls that never returned are in none."""
    rows = run.chosen("spans", "kind", (SpanKind.PREDICT, SpanKind.ON_BATCH), _COLUMNS)
    calls: dict[_Key, _Calls] = defaultdict(_Calls)
    batches: dict[int, tuple[_Key, str | None]] = {}
    inferred = {detail for detail in {row["detail"] for row in rows} if _is_inferred(detail)}
    for row in rows:
        key = row["name"], row["file"], row["line"]
        if row["kind"] == SpanKind.PREDICT and row["ended"] and row["detail"] not in inferred:
            calls[key].times.append((row["start_ns"], row["dur_ns"]))
            calls[key].threads.add((row["thread_id"], row["thread"]))
        elif row["name"] == ON_BATCH:
            batches[row["span_id"]] = key, row["thread"]
    if batches:
        _add_batches(run, batches, calls)
    found = (_summary(key, one) for key, one in calls.items() if one.times or one.beside)
    return tuple(sorted(found, key=lambda one: -one.total_ns))


def _is_inferred(detail: str | None) -> bool:
    """Whether the script's own loop was recognised there: that is many calls, not one."""
    try:
        return detail is not None and json.loads(detail).get("how") == FoundBy.INFERRED
    except (ValueError, AttributeError):
        return False


def _add_batches(run: Run, batches: dict[int, tuple[_Key, str | None]], calls: dict[_Key, _Calls]) -> None:
    """Each step of a loop over `predict_on_batch` is a call; the loop is of one thread."""
    wanted = pa.array(list(batches), pa.int32())
    for piece in run.pieces("steps", ("loop_id", "thread_id", "start_ns", "dur_ns", "count")):
        for row in piece.filter(pc.is_in(piece["loop_id"].cast(pa.int32()), wanted)).to_pylist():
            key, thread = batches[row["loop_id"]]
            one = calls[key]
            one.threads.add((row["thread_id"], thread))
            if row["count"] == 1:
                one.times.append((row["start_ns"], row["dur_ns"]))
            else:
                one.beside += row["count"]
                one.beside_ns += row["dur_ns"]


def _summary(key: _Key, calls: _Calls) -> CallLatency:
    ordered = sorted(calls.times)
    times = np.sort(np.array([dur for _, dur in ordered[1:]], np.int64))
    whole = not calls.beside
    p50, p95, p99 = (_percentile(times, share) if whole else None for share in _LEAST)
    return CallLatency(
        name=key[0],
        file=key[1],
        line=key[2],
        count=len(ordered) + calls.beside,
        threads=len(calls.threads),
        first_ns=ordered[0][1] if ordered else 0,
        p50_ns=p50,
        p95_ns=p95,
        p99_ns=p99,
        max_ns=int(times[-1]) if len(times) and whole else None,
        total_ns=sum(dur for _, dur in ordered) + calls.beside_ns,
    )


def _percentile(times: np.ndarray, share: int) -> int | None:
    """By nearest rank, of sorted times; None: there are too few."""
    if len(times) + 1 < _LEAST[share]:
        return None
    return int(times[max(0, -(-share * len(times) // 100) - 1)])
