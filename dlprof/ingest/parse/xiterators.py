"""Stages of tf.data in the planes of an XSpace: calls for elements (`Iterator::Root::Prefetch::Map`), and functions.

An iterator's event is around those of the iterators that it asks on the same thread. One that works on other threads
(`Prefetch`, `ParallelMap`) only waits in its own; on those threads events called `...Produce` are around what it asks,
and around the begin of the functions that it calls, whose number the executors' events have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from dlprof.ingest.kernels.events import NONE, Booleans, Integers
from dlprof.ingest.kernels.input_stages import INJECTED, TracedStage
from dlprof.ingest.kernels.nesting import Nest, nest
from dlprof.ingest.limits import budget
from dlprof.ingest.parse import xiterator_names, xlines
from dlprof.ingest.parse.protowire import WireError
from dlprof.ingest.parse.xiterator_names import Place
from dlprof.ingest.parse.xplane import Plane, SpaceBytes

_PREFIX = "Iterator::"
_NUMBERS = ("id", "parent_id", "parallelism", "buffer_limit", "buffer_size", "buffered_elements", "batch_size")
_TEXTS = ("name", "autotune")
_STATS = (*_NUMBERS, *_TEXTS)
_COLUMNS = ("lane", "start", "dur", "metadata", "kind", *_STATS)
_LATEST_PS = 1 << 61
"""Events of a file are no later, nor longer: half a month."""
_LARGEST = 1 << 31
"""No setting of a stage is."""
_EVENT_BYTES = 8 * len(_COLUMNS)


class _Kind(IntEnum):
    ITERATOR = 0
    PRODUCE = 1
    CALL = 2
    """A captured function is begun."""
    PROCESS = 3
    """A thread executes operations of a function."""
    MAKE = 4
    """An iterator is made: that of a stage below, when it is asked for the first time in a pass."""


@dataclass(frozen=True)
class _Stage:
    """A stage while it is found.

    Attributes:
        root: Name of the outermost data set of its pipeline; None: what asks it was not seen.
        place: Where it is in it.
        dataset: Name of its data set; None: not told, or each call of a function makes another.
    """

    root: str | None
    place: Place
    dataset: str | None


def stages(data: SpaceBytes, plane: Plane) -> list[TracedStage]:
    """The stages of all pipelines that ran while a host was traced; none: it ran none.

    Raises:
        WireError: An event is written in an unusual order.
    """
    kinds = {number: kind for number, name in plane.names.items() if (kind := _kind_of(name)) is not None}
    if _Kind.ITERATOR not in kinds.values():
        return []
    columns = _collect(data, plane, kinds)
    return _Pipelines(plane, columns).stages() if len(columns["kind"]) else []


def _kind_of(name: str) -> _Kind | None:
    if name.startswith(_PREFIX):
        return _Kind.ITERATOR
    if name.startswith("InstantiatedCapturedFunction::Run"):
        return _Kind.CALL
    if name.endswith("Produce") and name.isalnum():
        return _Kind.PRODUCE
    if name.startswith("MakeIterator::"):
        return _Kind.MAKE
    return _Kind.PROCESS if name == "ExecutorState::Process" else None


def _collect(data: SpaceBytes, plane: Plane, kinds: Mapping[int, _Kind]) -> dict[str, Integers]:
    """The events of these kinds, by column: times in ns, texts by their numbers, -1 for what an event lacks."""
    numbers = np.asarray(sorted(kinds), np.int64)
    of_number = np.asarray([int(kinds[number]) for number in numbers.tolist()], np.int64)
    wanted = plane.stat_numbers(_NUMBERS), plane.stat_numbers(_TEXTS)
    parts: dict[str, list[Integers]] = {name: [] for name in _COLUMNS}
    for lane, span in enumerate(plane.lines):
        line = data.line(span)
        for piece in data.pieces(line):
            try:
                heads = xlines.heads(piece.data, piece.begins)
                keep = np.isin(heads.metadata, numbers)
                events = xlines.decode(piece.data, heads, keep)
                stats = xlines.stat_values(piece.data, events, *wanted)
            except xlines.IrregularError as error:
                raise WireError("an event that is written in an unusual order", piece.at) from error
            good = (events.offset_ps >= 0) & (events.duration_ps >= 0)
            good &= (events.offset_ps < _LATEST_PS) & (events.duration_ps < _LATEST_PS)
            size = len(events.end)
            budget().hold(size * _EVENT_BYTES, "events of input pipelines")
            start = line.timestamp_ns + (events.offset_ps + 500) // 1000
            end = line.timestamp_ns + (events.offset_ps + events.duration_ps + 500) // 1000
            missing = np.full(size, NONE, np.int64)
            by_name = {plane.stats[number]: column for number, column in stats.items()}
            told = {name: by_name.get(name, missing) for name in _STATS}
            kind = of_number[np.searchsorted(numbers, events.metadata)]
            own = {"lane": np.full(size, lane), "start": start, "dur": np.maximum(end - start, 0)}
            for name, column in {**own, "metadata": events.metadata, "kind": kind, **told}.items():
                parts[name].append(column[good])
    return {name: np.concatenate(some) if some else np.empty(0, np.int64) for name, some in parts.items()}


class _Pipelines:
    """The pipelines of a plane."""

    def __init__(self, plane: Plane, columns: Mapping[str, Integers]) -> None:
        self._plane = plane
        calls = columns["kind"] != _Kind.PROCESS
        self._processes = {name: column[~calls] for name, column in columns.items()}
        events = {name: column[calls] for name, column in columns.items()}
        self._nest: Nest = nest(events["lane"], events["start"], events["dur"])
        self._events = {name: column[self._nest.order] for name, column in events.items()}
        self._is_iterator: Booleans = self._events["kind"] == _Kind.ITERATOR
        self._parents = self._parents_of_iterators()
        self._number, self._known = self._numbered()
        self._asked_by = self._askers()

    # -- whose an event is --------------------------------------------------------------------------------

    def _parents_of_iterators(self) -> dict[int, tuple[int, str]]:
        """Number of each iterator object to that of the one that asks it, and to its data set's name."""
        rows = np.flatnonzero(self._is_iterator)
        columns = np.stack([self._events[name][rows] for name in ("id", "parent_id", "name")])
        found = np.unique(columns, axis=1).T.tolist()
        budget().hold(100 * len(found), "iterators of input pipelines")
        return {number: (parent, self._plane.stats.get(name, "")) for number, parent, name in found if number != NONE}

    def _roots(self) -> dict[int, str]:
        """Number of each iterator object, where all that is around it was seen, to the name of its pipeline.

        That is the outermost data set of the program's: what TensorFlow put around two that are built alike has the
        same name in both.
        """
        known: dict[int, tuple[int, int] | None] = {}
        nearest: dict[int, tuple[bool, int, str]] = {}
        for iterator, (_, name) in self._parents.items():
            found = self._outermost(iterator, known)
            if found is not None:
                outermost, depth = found
                told = (not name or name.startswith(INJECTED), depth, name)
                nearest[outermost] = min(nearest.get(outermost, told), told)
        return {iterator: nearest[found[0]][2] for iterator, found in known.items() if found is not None}

    def _outermost(self, iterator: int, known: dict[int, tuple[int, int] | None]) -> tuple[int, int] | None:
        """The iterator around all others, and how far out it is; None: not all between them were seen.

        Args:
            iterator: One that was seen.
            known: The same of others, which grows.
        """
        way: list[int] = []
        at = iterator
        while at not in known:
            known[at] = None  # What is asked in a circle is asked by nothing.
            parent = self._parents[at][0] if at in self._parents else at
            if parent == NONE:
                known[at] = at, 0
            elif parent != at:
                way.append(at)
                at = parent
        found = known[at]
        for further, one in enumerate(reversed(way), 1):
            known[one] = (found[0], found[1] + further) if found is not None else None
        return known[iterator]

    def _numbered(self) -> tuple[Integers, list[_Stage]]:
        """The stage of each event, as a place in the list; NONE: it is of no iterator."""
        rows = np.flatnonzero(self._is_iterator)
        keys = np.stack([self._events[name][rows] for name in ("metadata", "id", "parent_id", "name")])
        unique, inverse = np.unique(keys, axis=1, return_inverse=True)
        numbers, iterators, parents, datasets = unique.tolist()
        names = {number: self._plane.names.get(number, "") for number in dict.fromkeys(numbers)}
        where = {number: xiterator_names.place(name) for number, name in names.items()}
        roots = self._roots()
        stages = [
            _Stage(roots.get(iterator), where[number], self._plane.stats.get(dataset))
            for number, iterator, dataset in zip(numbers, iterators, datasets, strict=True)
        ]
        stages = _united(_settled(stages, np.bincount(inverse.reshape(-1), minlength=len(stages)).tolist()))
        distinct = list(dict.fromkeys(stages))
        seen = set(iterators) - {NONE}
        orphans = [place for place, parent in enumerate(parents) if parent not in seen]
        distinct += _unended(distinct, dict.fromkeys((stages[place].root, names[numbers[place]]) for place in orphans))
        places = {stage: place for place, stage in enumerate(distinct)}
        number = np.full(len(self._is_iterator), NONE, np.int64)
        number[rows] = np.asarray([places[stage] for stage in stages], np.int64)[inverse.reshape(-1)]
        return number, distinct

    def _askers(self) -> list[int | None]:
        """The stage that asks each stage; None: none, or it is not known."""
        rows = np.flatnonzero(self._is_iterator)
        keys = np.stack([self._number[rows], self._events["id"][rows], self._events["parent_id"][rows]])
        unique = np.unique(keys, axis=1).T.tolist()
        of_iterator = {iterator: place for place, iterator, _ in unique if iterator != NONE}
        by_path = {(stage.root, stage.place.path): place for place, stage in enumerate(self._known)}
        asked_by: list[int | None] = [by_path.get((stage.root, stage.place.parent)) for stage in self._known]
        for place, _, parent in unique:
            above = of_iterator.get(parent)
            if above is not None and above != place and self._known[above].root == self._known[place].root:
                asked_by[place] = above
        return asked_by

    # -- sums ---------------------------------------------------------------------------------------------

    def stages(self) -> list[TracedStage]:
        """The stages, pipeline by pipeline."""
        around = _nearest(self._nest.parent, self._is_iterator)
        own, starting = self._own(around)
        functions = self._functions()
        asynchronous = self._asynchronous(around)
        made: list[TracedStage] = []
        for pipeline, root in enumerate(dict.fromkeys(stage.root for stage in self._known)):
            places = [place for place, stage in enumerate(self._known) if stage.root == root]
            numbers: dict[int, int] = {}
            for place, parent in self._in_order(places):
                numbers[place] = len(numbers)
                above = numbers[parent] if parent is not None else None
                rows = np.flatnonzero(self._number == place)
                stage = self._known[place]
                settings = self._settings(rows)
                queue = self._events["buffer_limit"][rows].max(initial=NONE) > NONE
                others = asynchronous.get(place, queue or settings["parallelism"] is not None)
                made.append(
                    TracedStage(
                        pipeline=pipeline,
                        stage=numbers[place],
                        parent=above,
                        name=stage.place.path.rpartition("::")[2],
                        dataset=stage.dataset,
                        is_nested=stage.place.is_nested,
                        input=stage.place.input,
                        elements=len(rows),
                        total_ns=int(self._events["dur"][rows].sum()),
                        own_ns=int(own[rows].sum()),
                        starting_ns=int(starting[rows].sum()),
                        function_ns=functions.get(place),
                        asynchronous=others if len(rows) else place in functions,
                        **settings,
                    )
                )
        return made

    def _own(self, around: Integers) -> tuple[Integers, Integers]:
        """Time of each call outside of what it asks and makes on its thread; time in which it makes iterators (ns)."""
        dur = self._nest.end - self._nest.start
        is_made = (self._events["kind"] == _Kind.MAKE) & (around >= 0)
        is_made[is_made] = self._events["kind"][self._nest.parent[is_made]] != _Kind.MAKE
        asked, made = np.zeros(len(dur), np.int64), np.zeros(len(dur), np.int64)
        for rows, times in ((self._is_iterator & (around >= 0), asked), (is_made, made)):
            np.add.at(times, around[rows], dur[rows])
        return np.maximum(dur - asked - made, 0), made

    def _in_order(self, places: Sequence[int]) -> list[tuple[int, int | None]]:
        """The stages of a pipeline and what asks each, each behind that; in the order in which they were told."""
        below: dict[int | None, list[int]] = defaultdict(list)
        for place in places:
            below[self._asked_by[place]].append(place)
        found: dict[int, int | None] = {}
        tops = [*sorted(below[None], key=self._order), *sorted(places, key=self._order)]
        waiting: list[tuple[int, int | None]] = [(place, None) for place in reversed(tops)]
        while waiting:
            place, parent = waiting.pop()
            if place not in found:  # It is where stages of a hostile trace ask each other in a circle.
                found[place] = parent
                waiting += [(one, place) for one in sorted(below[place], key=self._order, reverse=True)]
        return list(found.items())

    def _order(self, place: int) -> tuple[tuple[str, int], ...]:
        return self._known[place].place.order

    def _asynchronous(self, around: Integers) -> dict[int, bool]:
        """Stage to whether it asks on other threads for what it gives; those that asked for nothing are not in it."""
        asked_by = np.asarray([NONE if one is None else one for one in self._asked_by], np.int64)
        rows = np.flatnonzero(self._is_iterator)
        rows = rows[asked_by[self._number[rows]] != NONE]
        asker = asked_by[self._number[rows]]
        here = (around[rows] >= 0) & (self._number[np.maximum(around[rows], 0)] == asker)
        elsewhere = ~here & ~self._may_be_cut(rows, asker, around)
        many = len(self._known)
        of_here, of_elsewhere = np.bincount(asker[here], minlength=many), np.bincount(asker[elsewhere], minlength=many)
        counts = zip(of_here.tolist(), of_elsewhere.tolist(), strict=True)
        return {place: others > own for place, (own, others) in enumerate(counts) if own or others}

    def _may_be_cut(self, rows: Integers, asker: Integers, around: Integers) -> Booleans:
        """Calls that may be in one of their asker's: begun before the trace or ended after it, that one has no event.

        Args:
            rows: Of the calls.
            asker: The stage that asks each.
            around: The nearest call around every event.
        """
        lane, lanes = self._events["lane"], int(self._events["lane"].max(initial=0)) + 1
        calls = np.flatnonzero(self._is_iterator)
        keys, place = np.unique(self._number[calls] * lanes + lane[calls], return_inverse=True)
        first, last = np.full(len(keys), self._nest.end.max(initial=0)), np.zeros(len(keys), np.int64)
        np.minimum.at(first, place.reshape(-1), self._nest.start[calls])
        np.maximum.at(last, place.reshape(-1), self._nest.end[calls])
        wanted = asker * lanes + lane[rows]
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        start = self._nest.start[rows]
        outside = (start < first[found]) | (start >= last[found])
        cut: Booleans = (around[rows] < 0) & (keys[found] == wanted) & outside
        return cut

    def _functions(self) -> dict[int, int]:
        """Stage to the time of threads in the functions that it begins (ns), where those run on others than its own."""
        owners = self._owners_of_functions()
        if not owners:
            return {}
        columns = self._processes
        ids = np.asarray(sorted(owners), np.int64)
        rows = np.flatnonzero(np.isin(columns["id"], ids))
        if not len(rows):
            return {}
        function = np.searchsorted(ids, columns["id"][rows])
        lanes = columns["lane"][rows] * len(ids) + function
        _, lane = np.unique(lanes, return_inverse=True)
        # One function may be called by another one with the same number: what is inside counts once.
        found = nest(lane.astype(np.int32), columns["start"][rows], columns["dur"][rows])
        outermost = found.parent == NONE
        spent: Counter[int] = Counter()
        times = (found.end - found.start)[outermost]
        for number, ns in zip(function[found.order][outermost].tolist(), times.tolist(), strict=True):
            spent[owners[int(ids[number])]] += ns
        return dict(spent)

    def _owners_of_functions(self) -> dict[int, int]:
        """Number of each call of a function to the stage that began it."""
        kind = self._events["kind"]
        around = _nearest(self._nest.parent, (kind == _Kind.ITERATOR) | (kind == _Kind.PRODUCE))
        producers = self._producers(around)
        owners: dict[int, int] = {}
        rows = np.flatnonzero((kind == _Kind.CALL) & (around >= 0) & (self._events["id"] != NONE))
        for call, outer in zip(self._events["id"][rows].tolist(), around[rows].tolist(), strict=True):
            place = int(self._number[outer]) if self._is_iterator[outer] else producers.get(outer, NONE)
            if place != NONE:
                owners[call] = place
        budget().hold(100 * len(owners), "functions of input pipelines")
        return owners

    def _producers(self, around: Integers) -> dict[int, int]:
        """Event of making an element to its stage: the one that asks what is asked in it."""
        rows = np.flatnonzero(self._is_iterator & (around >= 0))
        rows = rows[~self._is_iterator[around[rows]]]
        found: dict[int, int] = {}
        for outer, place in zip(around[rows].tolist(), self._number[rows].tolist(), strict=True):
            parent = self._asked_by[place]
            if parent is not None:
                found[outer] = parent
        return found

    def _settings(self, rows: Integers) -> dict[str, Any]:
        """What the calls of a stage tell of it."""
        told = {name: self._events[name][rows] for name in _STATS}
        buffered = told["buffered_elements"][told["buffered_elements"] >= 0]
        limit = _last(told["buffer_limit"])
        autotune = _last(told["autotune"])
        return {
            "parallelism": _last(told["parallelism"]),
            "autotuned": None if autotune is None else self._plane.stats.get(autotune) == "true",
            "buffer": limit if limit is not None else _last(told["buffer_size"]),
            "buffered": float(buffered.mean()) if len(buffered) else None,
            "batch_size": _last(told["batch_size"]),
        }


def _settled(stages: Sequence[_Stage], counts: Sequence[int]) -> list[_Stage]:
    """Stages whose outermost one was not seen, because its call had not ended, put where the same stage is known."""
    known: dict[tuple[Place, str | None], str] = {}
    calls: Counter[str] = Counter()
    for stage, count in zip(stages, counts, strict=True):
        if stage.root is not None:
            known[stage.place, stage.dataset] = stage.root
            calls[stage.root] += count
    usual = calls.most_common(1)[0][0] if calls else ""
    return [
        stage if stage.root is not None else replace(stage, root=known.get((stage.place, stage.dataset), usual))
        for stage in stages
    ]


def _united(stages: Sequence[_Stage]) -> list[_Stage]:
    """The same with one stage for all that calls of a function made in one place: each is a data set of its own."""
    told: dict[tuple[str | None, Place], set[str | None]] = defaultdict(set)
    for stage in stages:
        if stage.place.is_nested:
            told[stage.root, stage.place].add(stage.dataset)
    several = {key for key, datasets in told.items() if len(datasets) > 1}
    return [replace(stage, dataset=None) if (stage.root, stage.place) in several else stage for stage in stages]


def _unended(stages: Iterable[_Stage], orphans: Iterable[tuple[str | None, str]]) -> list[_Stage]:
    """Stages of which no call began and ended while it was traced, by the names of what they ask.

    Args:
        stages: Those that have calls.
        orphans: Pipeline and name of each iterator that none of these asks.
    """
    known = {(stage.root, stage.place.path) for stage in stages}
    found: list[_Stage] = []
    for root, name in orphans:
        for place in xiterator_names.around(name):
            if (root, place.path) not in known:
                budget().hold(200 + len(place.path), "stages of input pipelines")
                known.add((root, place.path))
                found.append(_Stage(root, place, None))
    return found


def _nearest(parent: Integers, wanted: Booleans) -> Integers:
    """The innermost event around each that is wanted, or NONE."""
    found = parent.copy()
    while True:
        others = (found >= 0) & ~wanted[np.maximum(found, 0)]
        if not others.any():
            return found
        found[others] = parent[found[others]]


def _last(values: Integers) -> int | None:
    known = values[(values >= 0) & (values < _LARGEST)]
    return int(known[-1]) if len(known) else None
