"""Calls in which the traced process was seen: saves, imports, compilations and their like, with their lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Truths
from dlprof.analysis.findings.finding import Abstain, SourceLine
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run
from dlprof.store.values import rows

_COLUMNS = ("kind", "name", "thread_id", "start_ns", "dur_ns", "file", "line", "span_id", "parent_id", "detail")
_NO_THREAD = -1
Interval = tuple[int, int]
"""Begin and end (ns)."""


@dataclass(frozen=True)
class Call:
    """A row of `spans`.

    Attributes:
        kind: A `SpanKind`.
        name: What was called, imported or compiled.
        begin_ns, end_ns: When (ns).
        line: The user's line that made it; None: there was none.
        number, parent: Its number, and that of the call around it.
        thread: Number of the thread that made it; None: not known.
        detail_json: What else the probe saw of it; empty: nothing.
    """

    kind: str
    name: str
    begin_ns: int
    end_ns: int
    line: SourceLine | None
    number: int
    parent: int | None
    thread: int | None = None
    detail_json: str = ""

    @property
    def dur_ns(self) -> int:
        """How long it took (ns)."""
        return self.end_ns - self.begin_ns

    @property
    def interval(self) -> Interval:
        """Its begin and end (ns)."""
        return self.begin_ns, self.end_ns

    @cached_property
    def detail(self) -> Mapping[str, Any]:
        """What else the probe saw of it."""
        return json.loads(self.detail_json) if self.detail_json else {}

    @property
    def compiled(self) -> Mapping[str, Any]:
        """Of a compilation: its function, and whether and why it was compiled again."""
        return self.detail.get("compiled") or {}


_Placed = tuple[int, Call]
"""Its row in the table, and a call."""


class Calls:
    """All calls of a run, in the order of its stream."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._of_kind: dict[str, list[_Placed]] = {}

    def of(self, *kinds: SpanKind) -> list[Call]:
        """Those of some kinds."""
        self._read({*map(str, kinds)} - self._of_kind.keys())
        if len(kinds) == 1:
            return [call for _place, call in self._of_kind[kinds[0]]]
        return [call for _place, call in sorted(chain(*(self._of_kind[kind] for kind in kinds)), key=itemgetter(0))]

    def with_phases(self, *kinds: SpanKind) -> list[Call]:
        """Those of some kinds that began while phases were of their thread.

        What another thread does meanwhile is in none of its phases.
        """
        calls = self.of(*kinds)
        return list(compress(calls, self.have_phases([(call.thread, call.begin_ns) for call in calls])))

    def inside_fit(self, *kinds: SpanKind) -> list[Call]:
        """Those of some kinds that began while a `fit` ran on their thread, of which phases were."""
        calls = self.with_phases(*kinds)
        return list(compress(calls, self._are_of_a_fit(calls)))

    def outside_fit(self, *kinds: SpanKind) -> list[Call]:
        """Those of some kinds that began while no `fit` ran, on whatever thread."""
        calls = self.of(*kinds)
        return list(compress(calls, ~_are_in(self.of(SpanKind.FIT), calls)))

    def _are_of_a_fit(self, calls: Sequence[Call]) -> Truths:
        found, fits = np.zeros(len(calls), bool), self.of(SpanKind.FIT)
        threads = np.array([_NO_THREAD if call.thread is None else call.thread for call in calls], np.int64)
        for thread in np.unique(threads).tolist():
            own = np.flatnonzero(threads == thread)
            theirs = [fit for fit in fits if (_NO_THREAD if fit.thread is None else fit.thread) == thread]
            found[own] = _are_in(theirs, [calls[place] for place in own.tolist()])
        return found

    def have_phases(self, begins: Sequence[tuple[int | None, int]]) -> Truths:
        """Whether phases were of each thread at a moment; of all, where nothing tells the main thread.

        Args:
            begins: Numbers of threads (None: not known), and moments (ns).
        """
        main = next((call.thread for call in self.of(SpanKind.SCRIPT)), None)
        if main is None:
            return np.ones(len(begins), bool)
        threads = pa.array([thread for thread, _ in begins], pa.int64())
        moments = pa.array([begin for _, begin in begins], pa.int64())
        known = pa.table({"thread_id": threads, "start_ns": moments})
        return PhaseThreads(main, self._run.manifest.phase_threads).begin(known)

    def _read(self, kinds: Collection[str]) -> None:
        """Read those of some kinds, which were not asked for before."""
        if not kinds:
            return
        self._of_kind.update({kind: [] for kind in kinds})
        before, wanted = 0, pa.array(sorted(kinds), pa.string())
        for piece in self._run.pieces("spans", _COLUMNS):
            places = pc.indices_nonzero(pc.is_in(piece["kind"].cast(pa.string()), wanted))
            for place, row in zip(places.to_pylist(), rows(piece.take(places)), strict=True):
                self._of_kind[row["kind"]].append((before + place, _call(row)))
            before += piece.num_rows

    def need_calls(self) -> None:
        """Abstain where no call was seen."""
        if not self._run.row_count("spans"):
            raise Abstain("the in-process probe left nothing")

    @cached_property
    def feed_arrays(self) -> bool:
        """Whether whole arrays were given to `fit`, so that all that batches cost is the engine's and Keras' own."""
        call = next((call for call in self.of(SpanKind.FIT) if call.detail_json), None)
        if call is None:
            return False
        if "adapter" in call.detail:
            return bool(call.detail["adapter"] == "ArrayDataAdapter")
        return call.name == "fit" and bool(call.detail.get("data"))


def _are_in(fits: Iterable[Call], calls: Iterable[Call]) -> Truths:
    """Which of some calls began while one of these ran."""
    ran = Stretches.of(call.interval for call in fits)
    return ran.hold(np.array([call.begin_ns for call in calls], np.int64))


def _call(row: Mapping[str, Any]) -> Call:
    return Call(
        kind=row["kind"],
        name=row["name"],
        begin_ns=row["start_ns"],
        end_ns=row["start_ns"] + row["dur_ns"],
        line=(row["file"], row["line"]) if row["file"] and row["line"] else None,
        number=row["span_id"],
        parent=row["parent_id"],
        thread=row["thread_id"],
        detail_json=row["detail"] or "",
    )
