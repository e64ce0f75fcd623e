"""Spans and leaf phases of the main thread as columns: there may be millions of both."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.schema.vocabulary import Loop, Phase, SpanKind
from dlprof.store.values import values

_COVERS_NO_TIME = frozenset({SpanKind.SCRIPT, SpanKind.ON_BATCH})
_OF_NO_STEP = frozenset({*_COVERS_NO_TIME, SpanKind.FIT, SpanKind.EPOCH})
"""Spans that are around steps, never inside one."""
_PHASES = tuple(Phase)
_CODES = {phase: code for code, phase in enumerate(_PHASES)}
_PIECE = 1 << 16


class Interval(NamedTuple):
    """A span of the main thread: [start, end) in ns on the run's timeline."""

    start: int
    end: int
    kind: str
    """One of `SpanKind`."""
    step_of: Loop | None = None
    """For a step that the script makes itself (`train_on_batch`): its loop."""

    @property
    def covers_time(self) -> bool:
        """Whether what is in it is no longer the time of what is around it."""
        return self.end > self.start and (self.step_of is not None or self.kind not in _COVERS_NO_TIME)


class SpanTimes:
    """The spans of the main thread.

    Args:
        start: When they begin (ns).
        end: When they end (ns).
        kind: Of each, an index into `kinds`.
        kinds: Kinds, of `SpanKind`.
        numbers: Their numbers; None: no step names its loop by one.
    """

    def __init__(
        self, start: Integers, end: Integers, kind: Integers, kinds: Sequence[str], numbers: Integers | None = None
    ) -> None:
        self._start, self._end, self._kind, self._kinds = start, end, kind, kinds
        known = np.empty(0, np.int64) if numbers is None else numbers
        self._by_number = np.argsort(known, kind="stable")
        self._numbers = known[self._by_number]

    @classmethod
    def of(cls, spans: Sequence[Interval]) -> SpanTimes:
        """Those of some intervals."""
        kinds = sorted({span.kind for span in spans})
        start, end = ([getattr(span, name) for span in spans] for name in ("start", "end"))
        kind = [kinds.index(span.kind) for span in spans]
        return cls(np.array(start, np.int64), np.array(end, np.int64), np.array(kind, np.int64), kinds)

    @classmethod
    def of_tables(cls, pieces: Iterable[pa.Table], whose: PhaseThreads) -> SpanTimes:
        """Those of pieces of the table `spans`, as far as phases are of their thread."""
        kinds: dict[str, int] = {}
        columns: list[list[npt.NDArray[Any]]] = [[], [], [], []]
        for piece in pieces:
            own = whose.cut(piece)
            start = integers(own["start_ns"])
            kind = [kinds.setdefault(name, len(kinds)) for name in values(own["kind"])]
            end, numbers = start + integers(own["dur_ns"]), integers(own["span_id"])
            found: tuple[npt.NDArray[Any], ...] = (start, end, np.array(kind, np.uint8), numbers)
            for column, part in zip(columns, found, strict=True):
                column.append(part)
        whole = [np.concatenate(column) if column else np.empty(0, np.int64) for column in columns]
        return cls(whole[0], whole[1], whole[2], tuple(kinds), whole[3])

    def __len__(self) -> int:
        return len(self._start)

    def _is(self, kinds: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Which spans are of one of these kinds."""
        codes = [code for code, kind in enumerate(self._kinds) if kind in kinds]
        return np.isin(self._kind, codes)

    def count(self, kind: str) -> int:
        """How many there are of a kind."""
        return int(np.count_nonzero(self._is((kind,))))

    def first(self, kind: str) -> tuple[int, int] | None:
        """Begin and end of the first of a kind; None: there is none."""
        rows = np.flatnonzero(self._is((kind,)))
        return (int(self._start[rows[0]]), int(self._end[rows[0]])) if len(rows) else None

    def inside_steps(self) -> Integers:
        """When those begin that may be inside a step, in order (ns)."""
        return np.sort(self._start[~self._is(_OF_NO_STEP)])

    def is_of(self, numbers: Integers, kind: str) -> npt.NDArray[np.bool_]:
        """Whether spans that are named by their numbers are of a kind; `on_batch` is also one that is not known."""
        unknown = np.full(len(numbers), kind == SpanKind.ON_BATCH)
        if not len(self._numbers):
            return unknown
        place = np.maximum(np.searchsorted(self._numbers, numbers, side="right") - 1, 0)
        own = self._is((kind,))[self._by_number[place]]
        return np.where(self._numbers[place] == numbers, own, unknown)

    def in_order(self) -> Iterator[Interval]:
        """Those that cover time, in order of their begin; outer ones first."""
        useful = np.flatnonzero((self._end > self._start) & ~self._is(_COVERS_NO_TIME))
        order = useful[np.lexsort((-self._end[useful], self._start[useful]))]
        for low in range(0, len(order), _PIECE):
            rows = order[low : low + _PIECE]
            columns = (one[rows].tolist() for one in (self._start, self._end, self._kind))
            for start, end, kind in zip(*columns, strict=True):
                yield Interval(start, end, self._kinds[kind])


class PhaseInterval(NamedTuple):
    """A stretch of the main thread's time in one leaf phase (ns)."""

    phase: Phase
    start_ns: int
    dur_ns: int


class PhaseIntervals(Sequence[PhaseInterval]):
    """Stretches of leaf phases, in order of time; neighbours of one phase are one."""

    def __init__(self) -> None:
        self._phase, self._start, self._end = array("B"), array("q"), array("q")

    def add(self, phase: Phase, start: int, end: int) -> None:
        """Add a stretch behind the last; one without length is passed over."""
        if end <= start:
            return
        code = _CODES[phase]
        if self._phase and self._phase[-1] == code:
            self._end[-1] = end
            return
        self._phase.append(code)
        self._start.append(start)
        self._end.append(end)

    def sums(self) -> Iterator[tuple[Phase, int, int]]:
        """Each phase with its time (ns) and the number of its stretches."""
        codes = np.array(self._phase)
        dur = np.array(self._end) - np.array(self._start)
        for code in np.unique(codes).tolist():
            own = codes == code
            yield _PHASES[code], int(dur[own].sum()), int(np.count_nonzero(own))

    def starts(self) -> Integers:
        """When they begin (ns)."""
        return np.array(self._start, np.int64)

    def is_in(self, phase: Phase) -> npt.NDArray[np.bool_]:
        """Which of them are of a phase."""
        codes: npt.NDArray[np.uint8] = np.array(self._phase, np.uint8)
        return np.equal(codes, _CODES[phase], dtype=np.bool_)

    def table(self) -> pa.Table:
        """Columns `phase`, `start_ns` and `dur_ns`."""
        names = pa.array([phase.value for phase in _PHASES], pa.string())
        phases = pa.DictionaryArray.from_arrays(pa.array(np.array(self._phase, np.int32)), names)
        starts = self.starts()
        columns = [phases, pa.array(starts), pa.array(np.array(self._end, np.int64) - starts)]
        return pa.Table.from_arrays(columns, names=["phase", "start_ns", "dur_ns"])

    def __len__(self) -> int:
        return len(self._phase)

    def __iter__(self) -> Iterator[PhaseInterval]:
        for code, start, end in zip(self._phase, self._start, self._end, strict=True):
            yield PhaseInterval(_PHASES[code], start, end - start)

    @overload
    def __getitem__(self, place: int) -> PhaseInterval: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[PhaseInterval]: ...

    def __getitem__(self, place: int | slice) -> PhaseInterval | Sequence[PhaseInterval]:
        if isinstance(place, slice):
            return [self[one] for one in range(len(self))[place]]
        start = self._start[place]
        return PhaseInterval(_PHASES[self._phase[place]], start, self._end[place] - start)
