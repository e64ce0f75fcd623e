"""Finds when phases are of another thread than the main one: while that one trains and the main one does not.

Servers, windows, experiment runners and notebooks train on a thread of their own, for which the main one waits. Phases
of the main thread would tell one wait there. So the wall time is handed over for as long as the other thread is at it:
from the first thing that the probe saw of it to the last, but for a pause in which the main one does something.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers, truths
from dlprof.analysis.stretches import Stretches
from dlprof.schema.manifest import PhaseThread
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.values import values

COLUMNS = ("kind", "thread", "thread_id", "span_id", "start_ns", "dur_ns")
"""Columns of the table `spans` that are looked at."""
STEP_COLUMNS = ("thread_id", "loop_id", "start_ns", "dur_ns")
"""Those of the table `steps`: a loop around `train_on_batch` has no other time than its steps'."""
_WORK = (SpanKind.FIT, SpanKind.EVALUATE, SpanKind.PREDICT)
_NO_WORK = (SpanKind.SCRIPT, SpanKind.DLPROF)
_CLOSE_NS = 10_000_000
_NEVER = int(np.iinfo(np.int64).max)
_MOST = 256
"""Turns that are kept, those with most work: a server may have a thread for each request."""
WhichThread = Callable[[Integers, Integers], Integers]
"""From numbers of threads and of spans to a number for each thread, of those that had one number in turn, too."""


def found(
    spans: Iterable[pa.Table],
    steps: Iterable[pa.Table],
    main_thread: int | None,
    which: WhichThread,
    system: Sequence[int] = (),
) -> tuple[PhaseThread, ...]:
    """When other threads than the main one have the phases: they fit, evaluate or predict, and it does none of that.

    Of two that do so at a time the one that does it for longer has them.

    Args:
        spans: Pieces of the table `spans`.
        steps: Pieces of the table `steps`.
        main_thread: Number of the main thread; None: it is not known, and has all of the time.
        which: Tells threads apart that had one number in turn.
        system: Numbers for the system, by that.
    """
    if main_thread is None:
        return ()
    threads = _by_thread(spans, steps, which)
    main = _Thread()
    for one in [one for one in threads if one[0] == main_thread]:
        main.join(threads.pop(one))
    wanted = [turn for thread in threads.values() for turn in thread.turns(main)]
    return tuple(
        PhaseThread(
            thread=one.name,
            thread_id=one.thread[0],
            system_id=system[one.thread[1]] if 0 <= one.thread[1] < len(system) else None,
            start_ns=one.start,
            end_ns=one.end,
        )
        for one in _disjoint(sorted(wanted, key=lambda one: (-one.work_ns, one.start)))
    )


def busy(spans: Iterable[pa.Table], steps: Iterable[pa.Table]) -> dict[int, Stretches]:
    """When the probe saw each thread do something, by its number.

    Args:
        spans: Pieces of the table `spans`.
        steps: Pieces of the table `steps`.
    """
    threads: dict[int, _Thread] = {}
    for (number, _), thread in _by_thread(spans, steps, lambda numbers, _: np.zeros(len(numbers), np.int64)).items():
        threads.setdefault(number, _Thread()).join(thread)
    return {number: thread.busy for number, thread in threads.items()}


@dataclass(frozen=True)
class _Turn:
    thread: tuple[int, int]
    """Its number, and which of those that had it in turn (-1: not known)."""
    name: str
    start: int
    end: int
    work_ns: int


def _disjoint(turns: Iterable[_Turn]) -> list[_Turn]:
    """Of turns those that meet none before them, in order of time."""
    chosen: list[_Turn] = []
    for turn in turns:
        place = bisect.bisect_left(chosen, turn.start, key=lambda one: one.start)
        is_free = (not place or chosen[place - 1].end <= turn.start) and (
            place == len(chosen) or turn.end <= chosen[place].start
        )
        if is_free:
            chosen.insert(place, turn)
        if len(chosen) == _MOST:
            break
    return chosen


class _Thread:
    """What the probe saw of a thread: all that it did, and what of that is fitting, evaluating or predicting."""

    def __init__(self, thread: tuple[int, int] = (0, -1), name: str = "") -> None:
        self._thread, self._name = thread, name
        self._all: list[npt.NDArray[np.int64]] = []
        self._of_work: list[npt.NDArray[np.int64]] = []

    def add(self, times: npt.NDArray[np.int64], is_work: Truths) -> None:
        """Add spans: pairs of begin and end (ns). Those that follow each other closely become one: there are many."""
        self._all.append(_close(times))
        self._of_work.append(_close(times[is_work]))

    def join(self, other: _Thread) -> None:
        """Add all of another one's."""
        self._all += other._all
        self._of_work += other._of_work

    @property
    def busy(self) -> Stretches:
        """When it did anything."""
        return _covered(self._all)

    @property
    def work(self) -> Stretches:
        """When it fitted, evaluated or predicted."""
        return _covered(self._of_work)

    def turns(self, main: _Thread) -> Iterator[_Turn]:
        """When it has the phases, as far as the main thread is concerned."""
        work, others, at_work = self.work, main.busy, main.work
        for begin, end in self._without_breaks(others):
            inside = work.within(begin, end)
            if not inside.ns or inside.shared_ns(at_work):
                continue
            first, last = int(inside.begin[0]), int(inside.end[-1])
            # What the main thread does before and after the work is its own time, though the other one does something.
            start = max(begin, min(first, _end_before(others, first)))
            stop = min(end, max(last, _begin_after(others, last)))
            yield _Turn(self._thread, self._name, start, stop, inside.ns)

    def _without_breaks(self, others: Stretches) -> Iterator[tuple[int, int]]:
        """What it did from the first to the last of it, cut where it paused and the main thread did something."""
        busy = self.busy
        if not len(busy.begin):
            return
        taken = others.lengths_within(busy.end[:-1], busy.begin[1:]) > 0
        yield from zip(
            busy.begin[np.append(True, taken)].tolist(), busy.end[np.append(taken, True)].tolist(), strict=True
        )


def _end_before(stretches: Stretches, moment: int) -> int:
    """The end of the last that begins before a moment (ns); 0: there is none."""
    place = int(np.searchsorted(stretches.begin, moment, side="left")) - 1
    return 0 if place < 0 else int(stretches.end[place])


def _begin_after(stretches: Stretches, moment: int) -> int:
    """The begin of the first that ends after a moment (ns); the end of time: there is none."""
    place = int(np.searchsorted(stretches.end, moment, side="right"))
    return _NEVER if place >= len(stretches.begin) else int(stretches.begin[place])


def _close(times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Intervals, of which those that follow each other closely are one."""
    found = Stretches.covered(times[:, 0], times[:, 1] + _CLOSE_NS)
    return np.stack((found.begin, found.end - _CLOSE_NS), axis=1)


def _covered(found: Sequence[npt.NDArray[np.int64]]) -> Stretches:
    times = np.concatenate(found) if found else np.empty((0, 2), np.int64)
    return Stretches.covered(times[:, 0], times[:, 1])


def _by_thread(
    spans: Iterable[pa.Table], steps: Iterable[pa.Table], which: WhichThread
) -> dict[tuple[int, int], _Thread]:
    threads: dict[tuple[int, int], _Thread] = {}
    for piece in spans:
        kinds = piece["kind"].cast(pa.string())
        keep = pc.and_(pc.invert(pc.is_in(kinds, pa.array(_NO_WORK))), pc.greater(piece["dur_ns"], 0))
        own = piece.filter(keep)
        is_work = truths(pc.is_in(own["kind"].cast(pa.string()), pa.array(_WORK)))
        _add(threads, own, which(integers(own["thread_id"]), integers(own["span_id"])), is_work)
    for piece in steps:
        own = piece.filter(pc.greater(piece["dur_ns"], 0))
        of = which(integers(own["thread_id"]), integers(own["loop_id"]))  # a loop is a span
        _add(threads, own, of, np.ones(own.num_rows, bool))
    return threads


def _add(threads: dict[tuple[int, int], _Thread], rows: pa.Table, which: Integers, is_work: Truths) -> None:
    """Add what spans or steps tell to the threads that they are of."""
    start, number = integers(rows["start_ns"]), integers(rows["thread_id"])
    times, keys = np.stack((start, start + integers(rows["dur_ns"])), axis=1), np.stack((number, which))
    order = np.lexsort(keys)
    edges = np.flatnonzero(np.any(np.diff(keys[:, order], axis=1) != 0, axis=0)) + 1
    for mine in np.split(order, edges) if len(order) else ():
        one = int(keys[0, mine[0]]), int(keys[1, mine[0]])
        if one not in threads:
            names = values(rows["thread"].take(pa.array(mine[:1]))) if "thread" in rows.column_names else ("",)
            threads[one] = _Thread(one, names[0] or "")
        threads[one].add(times[mine], is_work[mine])
