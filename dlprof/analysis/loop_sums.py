"""Sums and quantiles over the steps of each loop, read piece by piece: a long run has millions of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import order_statistics
from dlprof.analysis.columns import Integers, Truths, integers, steps_of, total, truths, under_tracer
from dlprof.analysis.order_statistics import Search
from dlprof.schema.vocabulary import Loop
from dlprof.store.run import Run

_COLUMNS = (
    "loop", "loop_id", "count", "start_ns", "dur_ns", "input_ns", "call_ns", "wait_ns", "compiled", "samples",
)  # fmt: skip
_KEPT = 1 << 18
"""Up to so many rows are kept in memory; more are read again."""
_MEDIAN, _P95 = 0.5, 0.95
Pieces = Callable[[], Iterable[pa.Table]]


@dataclass
class Steady:
    """Steps whose times are compared.

    Attributes:
        rows: How many rows they are.
        steps: How many steps.
        taken_ns: Their time, with the wait for their batches (ns).
        samples: Their samples, as far as these are known.
        unknown: Rows whose samples are not known.
        calls, inputs: Rows whose call, and whose wait for the batch, was seen.
    """

    rows: int = 0
    steps: int = 0
    taken_ns: int = 0
    samples: int = 0
    unknown: int = 0
    calls: int = 0
    inputs: int = 0

    def add(self, rows: pa.Table) -> None:
        """More of them."""
        self.rows += rows.num_rows
        self.steps += int(integers(rows["count"]).sum())
        self.taken_ns += int(_taken(rows).sum())
        self.samples += total(rows["samples"])
        self.unknown += rows["samples"].null_count
        self.calls += rows.num_rows - rows["call_ns"].null_count
        self.inputs += rows.num_rows - rows["input_ns"].null_count


@dataclass
class LoopSums:
    """All steps of a loop.

    Attributes:
        rows, steps: How many.
        compiled: Steps in which a graph was compiled.
        waits: Rows in which a value was waited for.
        first_ns: The first step (ns).
        loop_ids: The calls that they belong to.
        plain: Steps in which nothing was compiled or traced.
        traced: Those and steps that were traced.
        median_ns, p95_ns: Of a step of `steady`, with the wait for its batch (ns); None: there is none.
        call_median_ns, input_median_ns: Of the rows of `steady` (ns); None: of none it was seen.
    """

    rows: int = 0
    steps: int = 0
    compiled: int = 0
    waits: int = 0
    first_ns: int = 0
    loop_ids: set[int] = field(default_factory=set)
    plain: Steady = field(default_factory=Steady)
    traced: Steady = field(default_factory=Steady)
    median_ns: int | None = None
    p95_ns: int | None = None
    call_median_ns: int | None = None
    input_median_ns: int | None = None
    _begin_ns: int | None = None

    @property
    def steady(self) -> Steady:
        """The plain steps, or where there is none, those that were traced."""
        return self.plain if self.plain.rows else self.traced

    def add(self, rows: pa.Table, traced: Truths) -> None:
        """More steps."""
        count, start, compiled = integers(rows["count"]), integers(rows["start_ns"]), truths(rows["compiled"])
        self.rows += len(count)
        self.steps += int(count.sum())
        self.compiled += int(count[compiled].sum())
        self.waits += int(np.count_nonzero(integers(rows["wait_ns"])))
        self.loop_ids.update(pc.unique(rows["loop_id"]).to_pylist())
        first = int(np.argmin(start))
        if self._begin_ns is None or start[first] < self._begin_ns:
            self._begin_ns, self.first_ns = int(start[first]), int(_taken(rows)[first] / max(1, count[first]))
        self.plain.add(rows.filter(pa.array(~compiled & ~traced)))
        self.traced.add(rows.filter(pa.array(~compiled)))

    def is_steady(self, rows: pa.Table, traced: Truths) -> Truths:
        """Which of some steps are of `steady`, once all were added."""
        plain = ~truths(rows["compiled"])
        return plain & ~traced if self.plain.rows else plain


def of_run(run: Run) -> dict[Loop, LoopSums]:
    """The sums of each loop that a run has steps of."""
    return of_pieces(_pieces(run), run.table("kernel_windows"))


def of_pieces(pieces: Pieces, windows: pa.Table) -> dict[Loop, LoopSums]:
    """The sums of each loop.

    Args:
        pieces: Gives the table `steps` in pieces; it is asked several times.
        windows: Table `kernel_windows`.
    """
    found: dict[Loop, LoopSums] = {}
    for loop, rows, traced in _by_loop(pieces, windows):
        found.setdefault(loop, LoopSums()).add(rows, traced)
    _add_quantiles(found, pieces, windows)
    return found


def _pieces(run: Run) -> Pieces:
    if run.count("steps") > _KEPT:
        return lambda: run.pieces("steps", _COLUMNS)
    kept = list(run.pieces("steps", _COLUMNS))
    return lambda: kept


def _by_loop(pieces: Pieces, windows: pa.Table) -> Iterator[tuple[Loop, pa.Table, Truths]]:
    """Each loop of each piece, with its rows, and which of them were traced."""
    for piece in pieces():
        names = set(pc.unique(piece["loop"]).to_pylist())
        for loop in (loop for loop in Loop if loop in names):  # others are no loops, whoever wrote them
            rows = steps_of(piece, loop)
            yield loop, rows, under_tracer(rows, windows)


def _add_quantiles(found: dict[Loop, LoopSums], pieces: Pieces, windows: pa.Table) -> None:
    searches = {loop: _Searches.of(sums.steady) for loop, sums in found.items()}
    for _ in range(order_statistics.PASSES):
        for loop, rows, traced in _by_loop(pieces, windows):
            searches[loop].add(rows.filter(pa.array(found[loop].is_steady(rows, traced))))
        for search in searches.values():
            search.narrow()
    for loop, sums in found.items():
        searches[loop].tell(sums)


@dataclass(frozen=True)
class _Searches:
    """What is looked for of a loop's steady steps; None: there is none."""

    steady: Steady
    step: Search | None
    call: Search | None
    input: Search | None

    @classmethod
    def of(cls, steady: Steady) -> _Searches:
        step = _search((_MEDIAN, _P95), steady.steps)
        return cls(steady, step, _search((_MEDIAN,), steady.calls), _search((_MEDIAN,), steady.inputs))

    def add(self, rows: pa.Table) -> None:
        count = integers(rows["count"])
        if self.step is not None:
            self.step.add(_taken(rows) / np.maximum(1, count), count)
        for search, name in ((self.call, "call_ns"), (self.input, "input_ns")):
            if search is not None:
                known = integers(rows[name].drop_null())
                search.add(known.astype(np.float64), np.ones(len(known), np.int64))

    def narrow(self) -> None:
        for search in (self.step, self.call, self.input):
            if search is not None:
                search.narrow()

    def tell(self, sums: LoopSums) -> None:
        steady = self.steady
        sums.median_ns = _quantile(self.step, _MEDIAN, steady.steps)
        sums.p95_ns = _quantile(self.step, _P95, steady.steps)
        sums.call_median_ns = _quantile(self.call, _MEDIAN, steady.calls)
        sums.input_median_ns = _quantile(self.input, _MEDIAN, steady.inputs)


def _search(shares: Sequence[float], count: int) -> Search | None:
    if not count:
        return None
    return Search({place for share in shares for place in order_statistics.places_of(share, count)})


def _quantile(search: Search | None, share: float, count: int) -> int | None:
    return None if search is None else int(order_statistics.quantile(search, share, count))


def _taken(rows: pa.Table) -> Integers:
    """What each row took, with the wait for its batch (ns)."""
    return integers(rows["dur_ns"]) + integers(rows["input_ns"])
