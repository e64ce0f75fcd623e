"""Steps, epochs and phases of a run of foreign traces, from the ranges that its traces hold.

One process has them: the one of lowest rank that names steps, in all files that its thread is in. Times are in ns on
the run's timeline.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import trace_evaluations, trace_training, trace_updates
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import EVALUATION, HOW, PROGRAM_LINE, SEVERAL_UPDATES, STEP_LINE, Mark, MarkSort
from dlprof.schema.vocabulary import EventKind, Loop
from dlprof.store.run import Run

_NO_RANK = 1 << 15
_LINES = (STEP_LINE, PROGRAM_LINE)
_AS_STEPS = (MarkSort.NUMBERED_STEP, MarkSort.STEP, MarkSort.PROGRAM, MarkSort.OPTIMISER)
_LEAST = {MarkSort.NUMBERED_STEP: 1, MarkSort.STEP: 2, MarkSort.PROGRAM: 2, MarkSort.OPTIMISER: 2}
"""Ranges without a number are steps only where they repeat."""
_LEADING = 0.1
"""Before a wait for data that comes before all other work of a step there is less than this share of the wait."""
_ONE_STEP = {"tf1-timeline": "one call of session.run", "tf1-steps": "one call of session.run"}
"""Formats whose files hold one step each."""


@dataclass(frozen=True)
class Place:
    """Where events of a trace are: a process of a file."""

    rank: int | None
    host: str | None
    pid: int | None
    window: int


@dataclass(frozen=True)
class TraceStep:
    """A step or an epoch.

    Attributes:
        number: The number that the trace gives it, else its place in order.
        begin: Its begin (ns).
        end: Its end (ns).
        loop: What it is for.
        input_ns: Wait for data before its work (ns), within it; None: not known.
    """

    number: int
    begin: int
    end: int
    loop: Loop = Loop.UNKNOWN
    input_ns: int | None = None


@dataclass(frozen=True)
class Structure:
    """Steps and epochs of a run, in order of time and without overlap.

    Attributes:
        place: Whose they are.
        steps: Steps.
        epochs: Epochs.
        how: How the steps were told, for people.
        overlapping: Steps that began before the one before had ended, and were cut there.
        empty: Ranges that have no duration, and are no steps.
        windows: The files that they are in.
        may_share: Whether several steps may be one iteration: their work takes turns.
        lane: The thread that their ranges are on; None: they are none of ranges.
    """

    place: Place
    steps: tuple[TraceStep, ...]
    epochs: tuple[TraceStep, ...]
    how: str
    overlapping: int = 0
    empty: int = 0
    windows: frozenset[int] = frozenset()
    may_share: bool = False
    lane: str | None = None


@dataclass(frozen=True)
class _Range:
    mark: Mark
    place: Place
    lane: str
    thread: str
    begin: int
    end: int


def find(run: Run) -> Structure | None:
    """The steps and epochs of a run; None: its traces name none."""
    ranges = list(_ranges(run))
    found = _of_ranges(run, [one for one in ranges if one.mark.sort in _AS_STEPS]) or _of_files(run)
    if found is None:
        return None
    whose = replace(found.place, window=0)
    windows = found.windows or {found.place.window}
    here = [one for one in ranges if one.place.window in windows and replace(one.place, window=0) == whose]
    epochs = _in_order([one for one in here if one.mark.sort is MarkSort.EPOCH])
    waits = [one for one in here if one.mark.sort is MarkSort.INPUT]
    steps = _with_waits(_with_loops(run, found), waits)
    return replace(found, steps=steps, epochs=epochs)


def _ranges(run: Run) -> Iterable[_Range]:
    """All events that mark something: by their own name, or by the line of a device that they lie on."""
    ops = run.rows("kernel_ops")
    by_name = trace_marks.of_ops(ops)
    names = {op["op_id"]: op["name"] or "" for op in ops if op["kind"] == EventKind.ANNOTATION.word}
    wanted = pa.array(sorted({*by_name, *names}), pa.int32())
    for piece in run.pieces("kernel_events") if len(wanted) else ():
        chosen = pc.is_in(piece["op_id"], pa.array(list(by_name), pa.int32()))
        on_line = pc.is_in(piece["lane"].cast(pa.string()), pa.array(_LINES))
        rows = piece.filter(pc.or_(chosen, pc.and_(on_line, pc.is_in(piece["op_id"], wanted))))
        for row in rows.to_pylist():
            mark = trace_marks.of_line(row["lane"] or "", names.get(row["op_id"], "")) or by_name.get(row["op_id"])
            if mark is not None:
                place = Place(row["rank"], row["host"], row["pid"], row["window"])
                lane, begin = f"{row['device']} {row['lane']}", row["start_ns"]
                yield _Range(mark, place, lane, row["lane"] or "", begin, begin + row["dur_ns"])


def _of_ranges(run: Run, ranges: Sequence[_Range]) -> Structure | None:
    """The steps that the ranges of one process mark best."""
    groups: dict[tuple[Place, str, MarkSort, str], list[_Range]] = defaultdict(list)
    for one in ranges:
        groups[one.place, one.lane, one.mark.sort, one.mark.stem].append(one)
    usable = [group for group in groups.values() if len(group) >= _LEAST[group[0].mark.sort]]
    if not usable:
        return None
    best = min(usable, key=_rank)
    place, how = best[0].place, HOW[best[0].mark.sort]
    if best[0].mark.sort is MarkSort.OPTIMISER:
        return _of_updates(run, best)
    chosen = list(best)
    for group in sorted((group for group in usable if _goes_with(group, best)), key=_rank):
        if not _overlap(group, chosen):
            chosen += group
    steps, overlapping = _cut(_in_order(chosen))
    empty = sum(one.end <= one.begin for one in chosen)
    windows = frozenset(one.place.window for one in chosen)
    return Structure(place, steps, (), how, overlapping, empty, windows, lane=best[0].thread) if steps else None


def _rank(group: Sequence[_Range]) -> tuple[int, int, int, int]:
    """Order of preference: the sort of mark, the rank of the process, how much time it covers."""
    first, covered = group[0], sum(one.end - one.begin for one in group)
    rank = _NO_RANK if first.place.rank is None else first.place.rank
    return first.mark.sort, rank, first.place.window, -covered


def _goes_with(group: Sequence[_Range], best: Sequence[_Range]) -> bool:
    """Whether ranges are steps of another loop of the same thread, or of the same loop in another file.

    A profiler with a schedule writes a file for each of its cycles.
    """
    one, other = group[0], best[0]
    if group is best or one.lane != other.lane or one.mark.sort > MarkSort.STEP:
        return False
    if one.place == other.place:
        return True
    same_process = replace(one.place, window=0) == replace(other.place, window=0) and one.place.host is not None
    return same_process and (one.mark.sort, one.mark.stem) == (other.mark.sort, other.mark.stem)


def _overlap(some: Sequence[_Range], others: Sequence[_Range]) -> bool:
    """Whether any of some ranges shares time with any of the others."""
    both = sorted([*some, *others], key=lambda one: one.begin)
    reach = np.maximum.accumulate([one.end for one in both])
    return bool((np.asarray([one.begin for one in both[1:]]) < reach[:-1]).any())


def _in_order(ranges: Sequence[_Range]) -> tuple[TraceStep, ...]:
    """Ranges with a duration as steps, in order of time; those without a number are counted."""
    lasting = sorted((one for one in ranges if one.end > one.begin), key=lambda one: (one.begin, -one.end))
    return tuple(
        TraceStep(at if one.mark.number is None else one.mark.number, one.begin, one.end, one.mark.loop or Loop.UNKNOWN)
        for at, one in enumerate(lasting)
    )


def _cut(steps: Sequence[TraceStep]) -> tuple[tuple[TraceStep, ...], int]:
    """Steps without overlap: each ends where the next begins; and how many were cut."""
    done: list[TraceStep] = []
    overlapping = 0
    for step in steps:
        if done and step.begin < done[-1].end:
            overlapping += 1
            begun = done.pop()
            if step.begin > begun.begin:
                done.append(replace(begun, end=step.begin))
        done.append(step)
    return tuple(done), overlapping


def _of_updates(run: Run, updates: Sequence[_Range]) -> Structure | None:
    """From the end of one iteration's updates to that of the next: when the first step began is not known."""
    place = updates[0].place
    found = trace_updates.of_updates(run, place.window, sorted({one.end for one in updates}))
    between = list(itertools.pairwise(found.ends))
    begins = trace_evaluations.begins_behind(run, place.window, between)
    steps = tuple(
        TraceStep(at, begin, end, Loop.TRAIN)
        for at, (begin, (_, end)) in enumerate(zip(begins, between, strict=True))
        if begin < end
    )
    how = HOW[MarkSort.OPTIMISER] if found.updates == 1 else SEVERAL_UPDATES
    if later := sum(begin > first for begin, (first, _) in zip(begins, between, strict=True)):
        how = f"{how}; {later} without {EVALUATION}"
    # What evaluations have beside is no turn of several optimisers.
    return Structure(place, steps, (), how, may_share=found.is_unsure and not later) if steps else None


def _of_files(run: Run) -> Structure | None:
    """Steps of files that hold one each; None: there are no such files, or others beside them."""
    formats = {row["format"] for row in run.rows("sources") if row["events"]}
    windows = [row for row in run.rows("kernel_windows") if row["dur_ns"]]
    if not windows or not formats or not formats <= _ONE_STEP.keys():
        return None
    first = windows[0]
    steps = sorted((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in windows)
    cut, overlapping = _cut([TraceStep(at, begin, end) for at, (begin, end) in enumerate(steps)])
    place = Place(first["rank"], first["host"], first["pid"], first["window"])
    return Structure(place, cut, (), _ONE_STEP[min(formats)], overlapping)


def _with_loops(run: Run, found: Structure) -> tuple[TraceStep, ...]:
    """The steps; of those whose names do not tell what they are for, those train in which gradients are computed."""
    unknown = [step for step in found.steps if step.loop is Loop.UNKNOWN]
    if not unknown:
        return found.steps
    spans = [(step.begin, step.end) for step in unknown]
    windows = found.windows or {found.place.window}
    trains = dict(zip(spans, trace_training.of_steps(run, windows, found.lane, spans), strict=True))
    return tuple(
        replace(step, loop=Loop.TRAIN) if step.loop is Loop.UNKNOWN and trains[step.begin, step.end] else step
        for step in found.steps
    )


def _with_waits(steps: Sequence[TraceStep], waits: Sequence[_Range]) -> tuple[TraceStep, ...]:
    """The steps, with the waits for data that come before the work in them."""
    if not waits:
        return tuple(steps)
    begins = [step.begin for step in steps]
    first: dict[int, _Range] = {}
    inside: set[int] = set()
    are_between = False
    for one in sorted(waits, key=lambda wait: wait.begin):
        at = int(np.searchsorted(begins, one.begin, "right")) - 1
        if at >= 0 and one.begin < steps[at].end:
            inside.add(at)
            step = steps[at]
            if one.begin - step.begin <= _LEADING * (one.end - one.begin):
                first.setdefault(at, one)
        else:
            are_between = are_between or at < len(steps) - 1
    return tuple(_with_wait(step, first.get(at), are_between or at in inside) for at, step in enumerate(steps))


def _with_wait(step: TraceStep, wait: _Range | None, waited: bool) -> TraceStep:
    """The step with the wait that it begins with; one that waits elsewhere, or ahead of it, has no such figure."""
    if wait is None:
        return step if waited else replace(step, input_ns=0)
    return replace(step, input_ns=min(wait.end, step.end) - step.begin)
