"""Which spans, steps and stacks are of the thread that phases are of (`phase_turns`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers, truths
from dlprof.schema.manifest import PhaseThread
from dlprof.schema.vocabulary import MAIN_THREAD, SpanKind
from dlprof.store.run import Run

_NO_THREAD = -2
_NEVER = int(np.iinfo(np.int64).max)


class PhaseThreads:
    """Which spans, steps and stacks are of the thread that phases are of at their time.

    Args:
        main_thread: Number of the main thread; None: it is not known.
        turns: When others have the phases, in order.
    """

    def __init__(self, main_thread: int | None, turns: Sequence[PhaseThread] = ()) -> None:
        self._main, self.turns = -1 if main_thread is None else main_thread, tuple(turns)
        self._begin, self._end, self._ids = (
            np.array([getattr(turn, name) for turn in turns], np.int64) for name in ("start_ns", "end_ns", "thread_id")
        )

    def _turn(self, moments: Integers) -> Integers:
        """The turn that each moment is in; -1: none, so that it is the main thread's."""
        if not self.turns:
            return np.full(len(moments), -1, np.int64)
        place = np.searchsorted(self._begin, moments, side="right") - 1
        return np.where((place >= 0) & (moments < self._end[place]), place, -1)

    def begin(self, table: pa.Table) -> Truths:
        """Which rows begin while their thread has the phases.

        Args:
            table: With `thread_id` and `start_ns`.
        """
        thread = integers(table["thread_id"].fill_null(_NO_THREAD))
        if not self.turns:
            return np.equal(thread, self._main, dtype=np.bool_)
        turn = self._turn(integers(table["start_ns"]))
        return np.equal(thread, np.where(turn < 0, self._main, self._ids[turn]), dtype=np.bool_)

    def has(self, span: Mapping[str, Any]) -> bool:
        """Whether another thread has the phases when a span of it begins: a row with `thread_id` and `start_ns`."""
        return any(
            one.thread_id == span["thread_id"] and one.start_ns <= span["start_ns"] < one.end_ns for one in self.turns
        )

    def cut(self, table: pa.Table) -> pa.Table:
        """The spans of the threads that have the phases, each cut to when its own has them.

        One of the main thread that begins before a turn of another and ends after it stays whole: it is around that.

        Args:
            table: With `thread_id`, `kind`, `start_ns` and `dur_ns`.
        """
        if not self.turns:
            return table.filter(pa.array(self.begin(table)))
        thread, start = integers(table["thread_id"].fill_null(_NO_THREAD)), integers(table["start_ns"])
        end = start + integers(table["dur_ns"])
        at_start, at_end = self._turn(start), self._turn(np.maximum(start, end - 1))
        is_main = thread == self._main
        begin = np.where(is_main & (at_start >= 0), self._end[at_start], start)
        stop = np.where(is_main & (at_end >= 0), self._begin[at_end], end)
        # Another thread's span is in the turn that it begins in, else in the last to begin before it ends.
        place = np.where(at_start >= 0, at_start, np.searchsorted(self._begin, end, side="left") - 1)
        begin = np.where(is_main, begin, np.maximum(start, self._begin[place]))
        stop = np.where(is_main, stop, np.minimum(end, self._end[place]))
        whole = truths(pc.equal(table["kind"].cast(pa.string()), SpanKind.SCRIPT))  # it is around all of them
        begin, stop = np.where(is_main & whole, start, begin), np.where(is_main & whole, end, stop)
        keep = np.where(is_main, stop >= begin, (thread == self._ids[place]) & (place >= 0) & (stop >= begin))
        cut = table.set_column(table.schema.get_field_index("start_ns"), "start_ns", pa.array(begin))
        cut = cut.set_column(table.schema.get_field_index("dur_ns"), "dur_ns", pa.array(stop - begin))
        return cut.filter(pa.array(keep))

    def split(self, stacks: pa.Table) -> tuple[pa.Table, Truths]:
        """Sampled stacks of the program, cut where phases change hands.

        Args:
            stacks: With `thread`, `start_ns` and `dur_ns`.

        Returns:
            The rows, and which of them are of the thread that phases are of then.
        """
        if not self.turns:
            return stacks, truths(pc.equal(stacks["thread"].cast(pa.string()), MAIN_THREAD))
        start = integers(stacks["start_ns"])
        of, turn, begin, end = self._pieces(start, start + integers(stacks["dur_ns"]))
        rows = stacks.take(pa.array(of))
        rows = rows.set_column(rows.schema.get_field_index("start_ns"), "start_ns", pa.array(begin))
        rows = rows.set_column(rows.schema.get_field_index("dur_ns"), "dur_ns", pa.array(end - begin))
        names = pa.array([*(one.thread for one in self.turns), MAIN_THREAD])  # -1 is the last
        whose = names.take(pa.array(np.where(turn < 0, len(self.turns), turn)))
        return rows, truths(pc.equal(rows["thread"].cast(pa.string()), whose))

    def of_work(self, stacks: pa.Table) -> tuple[pa.Table, Truths]:
        """As `split`, without the main thread while phases are of another one: it waits, polls, or shows how far it is.

        None of that is work that the training is beside of, as that of threads which make its batches.
        """
        rows, own = self.split(stacks)
        if not self.turns:
            return rows, own
        keep = own | ~truths(pc.equal(rows["thread"].cast(pa.string()), MAIN_THREAD))
        return rows.filter(pa.array(keep)), own[keep]

    def of_main_beside(self, stacks: pa.Table) -> pa.Table:
        """Of sampled stacks those of the main thread while phases are of another one."""
        rows, own = self.split(stacks)
        is_main = truths(pc.equal(rows["thread"].cast(pa.string()), MAIN_THREAD))
        return rows.filter(pa.array(is_main & ~own))

    def of_stacks(self, stacks: pa.Table) -> pa.Table:
        """Of sampled stacks of the program those of the thread that phases are of, for as long as they are."""
        rows, own = self.split(stacks)
        return rows.filter(pa.array(own))

    def _pieces(self, begin: Integers, end: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """The parts of intervals between the edges of turns: of which, in which turn (-1: in none), begin and end."""
        edges = np.stack((self._begin, self._end), axis=1).ravel()
        low, high = np.searchsorted(edges, begin, side="right"), np.searchsorted(edges, end, side="left")
        count = np.maximum(high, low) - low + 1
        of = np.repeat(np.arange(len(begin)), count)
        place = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + low[of]
        bounds = np.concatenate(([-_NEVER], edges, [_NEVER]))
        start, stop = np.maximum(begin[of], bounds[place]), np.minimum(end[of], bounds[place + 1])
        return of, np.where(place % 2 == 1, place // 2, -1), start, stop


def of_run(run: Run) -> PhaseThreads:
    """Those of a run by what its manifest says; of stacks alone, as the main thread's number is not in it."""
    return PhaseThreads(None, run.manifest.phase_threads)
