"""Tracks of what a long run has too much of, read piece by piece: sampled stacks, steps, calls and the like.

Of a short run the same are made from slices (`tracks.of_group`), with what stands inside each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Integers, integers, truths
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.analysis.timeline.groups import PROGRAM
from dlprof.analysis.timeline.lanes import Lanes
from dlprof.analysis.timeline.program import call
from dlprof.analysis.timeline.slices import MISSING, What
from dlprof.analysis.timeline.threads import Key, titles
from dlprof.report.html import tracks
from dlprof.report.html.names import Names, cut
from dlprof.report.html.thinning import Thinner, Track
from dlprof.schema.vocabulary import MAIN_THREAD
from dlprof.store.run import Run
from dlprof.store.values import values

MANY = 50_000
"""A kind of which there are more rows is read piece by piece, and drawn without what stands inside each."""
_NAMES = 20_000
"""So many different calls a page names; others are called what they are."""
_CALL = ("pid", "thread_id", "thread", "kind", "name", "file", "line", "ended", "start_ns", "dur_ns")
_THREAD_OF_CALL = slice(0, 3)
_TIMES = ("start_ns", "dur_ns")


class _Events(NamedTuple):
    """Events of one label: an array each, in any order."""

    label: str
    start: Integers
    dur: Integers
    name: Integers
    number: Integers | None = None


def long_kinds(run: Run) -> frozenset[str]:
    """Tables of the program of which this run has too many rows."""
    return frozenset(name for name in _KINDS if run.count(name) > MANY)


def add_program(run: Run, kinds: Collection[str], names: Names, thinner: Thinner) -> None:
    """Add the tracks of some of `long_kinds` to those that are kept."""
    for kind in (kind for kind in _KINDS if kind in kinds):
        dealt = _Dealt(thinner)
        for events in _KINDS[kind](run, names):
            dealt.add(events)


@dataclass
class _Dealt:
    """Events of one kind on as many tracks as they need."""

    thinner: Thinner
    lanes: dict[str, Lanes] = field(default_factory=dict)

    def add(self, events: _Events) -> None:
        lanes = self.lanes.setdefault(events.label, Lanes())
        for number, rows in enumerate(lanes.deal(events.start, events.start + events.dur), 1):
            title = cut(events.label if number == 1 else f"{events.label} #{number}")
            track = Track(title, "program", events.start[rows], events.dur[rows], events.name[rows])
            numbers = None if events.number is None else events.number[rows]
            self.thinner.add(replace(track, number=numbers, place=cut(PROGRAM), lane=title))


def _phases(run: Run, names: Names) -> Iterator[_Events]:
    for piece in run.pieces("phase_intervals", ("phase", *_TIMES)):
        yield _Events("phases", *_times(piece), _named(piece, "phase", names, lambda name: What(str(name), "phase")))


def _epochs(run: Run, names: Names) -> Iterator[_Events]:
    for piece in run.pieces("epochs", _TIMES):
        start, dur = _times(piece)
        yield _Events("epochs", start, dur, np.full(len(start), tracks.named(What("epoch", "epoch"), names)))


def _steps(run: Run, names: Names) -> Iterator[_Events]:
    """Steps without their parts; with the number of each, over all loops."""
    done = 0
    for piece in run.pieces("steps", ("loop", "count", "compiled", *_TIMES)):
        count = integers(piece["count"], 1)
        number = done + np.cumsum(count) - count
        done += int(count.sum())
        plain, compiled = (
            _named(piece, "loop", names, lambda loop: What(f"{loop} step", "step"), how)
            for how in (tracks.named, tracks.named_compiled)
        )
        yield _Events("steps", *_times(piece), np.where(truths(piece["compiled"]), compiled, plain), number)


def _calls(run: Run, names: Names) -> Iterator[_Events]:
    """Calls by thread; where there are too many names, the kinds of what is called."""
    title, known = titles(run, "spans"), dict[Any, int]()
    for piece in run.pieces("spans", _CALL):
        by_thread: dict[Key, list[tuple[int, int, int]]] = {}
        for row in zip(*(values(piece[name]) for name in _CALL), strict=True):
            _, _, _, kind, name, file, line, ended, start, dur = row
            if kind not in tracks.TOLD_ELSEWHERE:
                told = (kind, name, file, line, ended) if len(known) < _NAMES else (kind, kind, None, None, ended)
                if told not in known:
                    known[told] = tracks.named(call(*told), names)
                by_thread.setdefault(row[_THREAD_OF_CALL], []).append((start, dur, known[told]))
        for thread, rows in by_thread.items():
            yield _Events(f"calls: {title[thread]}", *np.array(rows, np.int64).T)


def _collections(run: Run, names: Names) -> Iterator[_Events]:
    for piece in run.pieces("gc", ("generation", *_TIMES)):
        found = _named(piece, "generation", names, lambda number: What(f"generation {number}", "gc"))
        yield _Events("garbage collection", *_times(piece), found)


def _collectives(run: Run, names: Names) -> Iterator[_Events]:
    for piece in run.pieces("collectives", ("kind", *_TIMES)):
        found = _named(piece, "kind", names, lambda kind: What(str(kind), "collective"))
        yield _Events("collectives", *_times(piece), found)


_KINDS: Mapping[str, Callable[[Run, Names], Iterator[_Events]]] = {
    "phase_intervals": _phases,
    "epochs": _epochs,
    "steps": _steps,
    "spans": _calls,
    "gc": _collections,
    "collectives": _collectives,
}


def _times(piece: pa.Table) -> tuple[Integers, Integers]:
    return integers(piece["start_ns"]), integers(piece["dur_ns"])


def _named(
    piece: pa.Table,
    column: str,
    names: Names,
    what: Callable[[Any], What],
    how: Callable[[What, Names], int] = tracks.named,
) -> Integers:
    """The name of each row, by a column of few values."""
    numbers: dict[Any, int] = {}
    return np.array(
        [
            numbers[value] if value in numbers else numbers.setdefault(value, how(what(value), names))
            for value in values(piece[column])
        ],
        np.int64,
    )


def add_stacks(run: Run, names: Names, users: Collection[str], thinner: Thinner) -> None:
    """Add the innermost function of each thread's sampled stacks; the frames around it are said of it.

    Args:
        run: The run.
        names: Takes what the events are.
        users: Files of the user's own code.
        thinner: Takes the events.
    """
    title = titles(run, "stacks")
    of_stack = _StackNames(frames_by_stack(run), names, users)
    for key in sorted(title, key=lambda key: (title[key] != MAIN_THREAD, title[key])):
        thinner.add(_of_thread(title[key]))  # so that the tracks stand in this order
    for piece in run.pieces("stacks", (*_CALL[_THREAD_OF_CALL], *_TIMES, "stack_id")):
        start, dur = _times(piece)
        name = of_stack.names(integers(piece["stack_id"], MISSING))
        for key, rows in _by_thread(piece):
            known = rows[name[rows] != MISSING]
            known = known[np.argsort(start[known], kind="stable")]
            thinner.add(_of_thread(title[key], start[known], dur[known], name[known]))


_NONE = np.empty(0, np.int64)


def _of_thread(title: str, start: Integers = _NONE, dur: Integers = _NONE, name: Integers = _NONE) -> Track:
    label = cut(f"{title} (sampled)")
    return Track(label, "python", start, dur, name, place="Python, sampled", lane=cut(title))


@dataclass(frozen=True)
class _StackNames:
    """What stacks are called, each found once."""

    frames: Mapping[int, tuple[Frame, ...]]
    known: Names
    users: Collection[str]
    _numbers: dict[int, int] = field(default_factory=dict)

    def names(self, stacks: Integers) -> Integers:
        """The name of each stack; MISSING where it has no frames."""
        different, place = np.unique(stacks, return_inverse=True)
        return np.array([self._name(stack) for stack in different.tolist()], np.int64)[place]

    def _name(self, stack: int) -> int:
        if stack not in self._numbers:
            frames: Sequence[Frame] = self.frames.get(stack, ())
            self._numbers[stack] = tracks.named_stack(frames, self.known, self.users) if frames else MISSING
        return self._numbers[stack]


def _by_thread(piece: pa.Table) -> Iterator[tuple[Key, Integers]]:
    """The threads of a piece, and the rows of each."""
    columns = [values(piece[name]) for name in _CALL[_THREAD_OF_CALL]]
    rows: dict[Key, list[int]] = {}
    for row, key in enumerate(zip(*columns, strict=True)):
        rows.setdefault(key, []).append(row)
    for key, own in rows.items():
        yield key, np.array(own, np.int64)
