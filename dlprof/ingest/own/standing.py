"""For how long a sampled stack stood, where the program is known to have gone on meanwhile.

py-spy writes what changed from one sample to the next, and draws the time between two of them at random. So a stack
seems to stand until another one is seen: over a sample that was due and came late, over one that could not be read,
over the end of the loop that it was seen in. What the probe saw of the program tells more: a stack stands in the phase
in which it was seen, and in no other; and where two steps of a loop begin before the next sample, it is not one stretch
but one sample of what the steps do. Such a sample stands for the time between two samples, and for as many more that
were the same as its share of the loop lets expect. What is left is of no line but of those around all of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.parse.sampled_stacks import Frame

_OURS = "dlprof"
"""The phase in which dlprof itself ran: it interrupts another one, which goes on."""
_STEPS = 2
"""Steps that begin before the next sample from which on a stack is one sample of what they do."""
_FEW = 50
"""Samples of a loop at one rate that are too few to tell what it does: it is taken to do what it does later."""
_MOST_LOST = 1.5
"""A sample may stand for so many times what it usually does, where samples were lost."""
_BY_CHANCE = 4.0
"""So many times the usual may pass between two samples: one of fifty is as long."""
_Numbers = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


class Segment(NamedTuple):
    """From when on so many samples a second were taken."""

    start_ns: int
    rate_hz: float


class Row(NamedTuple):
    """A stack as py-spy has it.

    Attributes:
        stack: Its number.
        start_ns: On the run's timeline.
        dur_ns: Up to the next change.
        own_ns: How much of that dlprof itself took.
    """

    stack: int
    start_ns: int
    dur_ns: int
    own_ns: int = 0


class Part(NamedTuple):
    """What a row tells.

    Attributes:
        dur_ns: For how long all of its stack stood (ns).
        samples: In how many samples it was seen, as far as that is sure.
        depth: How many of its outermost frames stood for the rest of the row, too.
        rest_ns: The rest (ns).
    """

    dur_ns: int
    samples: float
    depth: int
    rest_ns: int


@dataclass(frozen=True)
class Progress:
    """What is known of how the main thread went on; times in ns on the run's timeline.

    Attributes:
        segments: How often it was looked at, in order of time.
        phases: For each phase of the outermost level its intervals: begins, ends; in order of time.
        steps: When steps of loops began, in order.
        loops: The loop of each of these.
    """

    segments: Sequence[Segment]
    phases: Sequence[tuple[_Numbers, _Numbers]] = ()
    steps: _Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    loops: _Numbers = field(default_factory=lambda: np.empty(0, np.int64))

    def period_ns(self, start: _Numbers) -> tuple[_Numbers, _Floats]:
        """Segment of each moment, and the mean time between two samples there (ns)."""
        begins = np.array([one.start_ns for one in self.segments], np.int64)
        periods = np.array([1e9 / one.rate_hz for one in self.segments])
        segment = np.maximum(0, np.searchsorted(begins, start, "right") - 1)
        return segment, periods[segment]

    def in_phase(self, start: _Numbers, end: _Numbers) -> _Numbers:
        """How much of some stretches lies in the phase in which each begins (ns); all of one that begins behind all."""
        found, ends = end - start, [one[1] for one in self.phases]
        if not ends:
            return found
        # Phases do not overlap: that which ends first is the one it began in, or that which dlprof interrupted there.
        never = int(max(one[-1] for one in ends)) + 1
        next_ends = np.stack([np.append(one, never)[np.searchsorted(one, start, "right")] for one in ends])
        first = np.argmin(next_ends, axis=0)
        for number, (begins, ends_) in enumerate(self.phases):
            there = (first == number) & (next_ends[number] != never)
            found[there] = _within(begins, ends_, start[there], end[there])
        return found

    def fast(self, start: _Numbers, end: _Numbers, period: _Floats) -> _Numbers:
        """The loop of which steps follow each other faster than samples; -1: of none."""
        if not len(self.steps):
            return np.full(len(start), -1)
        until = np.maximum(end, start + (_STEPS * period).astype(np.int64))
        first, last = np.searchsorted(self.steps, start, "right"), np.searchsorted(self.steps, until, "right")
        # One that was seen in the last step of a loop has none behind it.
        behind = np.searchsorted(self.steps, start - (_STEPS * period).astype(np.int64), "right")
        many = ((last - first >= _STEPS) | (first - behind >= _STEPS)) & (first > 0)
        return np.where(many, self.loops[np.maximum(0, first - 1)], -1)


def _within(begins: _Numbers, ends: _Numbers, start: _Numbers, end: _Numbers) -> _Numbers:
    """How much of each stretch lies in intervals that are in order, and apart (ns)."""
    before = np.concatenate(([0], np.cumsum(ends - begins)))

    def until(time: _Numbers) -> _Numbers:
        at = np.searchsorted(begins, time, "right")
        last = np.maximum(0, at - 1)
        return np.where(at > 0, before[last] + np.minimum(time, ends[last]) - begins[last], 0)

    return until(end) - until(start)


def progress(
    segments: Iterable[Segment],
    phases: pa.Table | None,
    steps: Iterable[pa.Table],
    main: int | None,
) -> Progress | None:
    """What is known of how the main thread went on; None: how often it was looked at is not.

    Args:
        segments: How often it was looked at.
        phases: Table `phase_intervals`; None: none.
        steps: Pieces of the table `steps`: `thread_id`, `loop_id`, `start_ns`.
        main: Number of the main thread, as steps have it; None: not known.
    """
    in_order = sorted(segments)
    if not in_order:
        return None
    begun = sorted(
        (row["start_ns"], row["loop_id"] or 0)
        for piece in steps
        for row in piece.to_pylist()
        if row["start_ns"] is not None and (main is None or row["thread_id"] in (None, main))
    )
    times = np.array(begun, np.int64).reshape(-1, 2)
    return Progress(in_order, _roots(phases), times[:, 0], times[:, 1])


def _roots(phases: pa.Table | None) -> list[tuple[_Numbers, _Numbers]]:
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in phases.sort_by("start_ns").to_pylist() if phases is not None else ():
        root = row["phase"].partition(".")[0]
        if root != _OURS and row["dur_ns"] > 0:
            found[root].append((row["start_ns"], row["start_ns"] + row["dur_ns"]))
    return [(times[:, 0], times[:, 1]) for times in (np.array(one, np.int64) for one in found.values())]


def parts(rows: Sequence[Row], known: Progress, stacks: Mapping[int, Sequence[Frame]]) -> list[Part]:
    """What the rows of the main thread tell, each as a part.

    Args:
        rows: In order of time.
        known: How it went on.
        stacks: Frames of each stack, outermost first.
    """
    if not rows:
        return []
    start = np.array([row.start_ns for row in rows], np.int64)
    dur = np.array([row.dur_ns for row in rows], np.int64)
    program = np.maximum(0, dur - np.array([row.own_ns for row in rows], np.int64))
    segment, period = known.period_ns(start)
    stood = np.minimum(program, known.in_phase(start, start + dur)).astype(np.float64)
    samples = np.maximum(1.0, stood / period)
    loop = known.fast(start, start + dur, period)
    around = np.array([_common(rows, at, stacks) for at in range(len(rows))], np.int64)
    rest = np.maximum(0.0, program - stood)
    for group in _groups(loop, segment):
        numbers = [rows[at].stack for at in group]
        stood[group], samples[group] = _as_samples(numbers, stood[group], period[group])
        around[group] = np.minimum(around[group], _around(numbers, stacks))
        rest[group] = _left(program[group], stood[group])
    return [Part(*one) for one in zip(_whole(stood), samples.tolist(), around.tolist(), _whole(rest), strict=True)]


def _left(program: _Numbers, stood: _Floats) -> _Floats:
    """What is left of each row of a loop, all together as much as is left of them (ns)."""
    left = np.maximum(0.0, program - stood)
    most = max(0.0, float(program.sum() - stood.sum()))
    return left * (most / float(left.sum())) if left.any() else left


def _whole(times: _Floats) -> list[int]:
    return np.rint(times).astype(np.int64).tolist()  # type: ignore[no-any-return]


def _groups(loop: _Numbers, segment: _Numbers) -> list[list[int]]:
    """Places of the rows of one loop that were looked at equally often, with those of segments that have too few."""
    found: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, (of_loop, of_segment) in enumerate(zip(loop.tolist(), segment.tolist(), strict=True)):
        if of_loop != -1:
            found[of_loop][of_segment].append(at)
    joined = []
    for segments in found.values():
        most, *others = sorted(segments.values(), key=len, reverse=True)
        joined += [[*most, *(at for one in others if len(one) < _FEW for at in one)]]
        joined += [one for one in others if len(one) >= _FEW]
    return joined


def _as_samples(numbers: Sequence[int], stood: _Floats, period: _Floats) -> tuple[_Floats, _Floats]:
    """Time that the rows of a fast loop stand for, all together no more than they have (ns), and samples in them.

    Where samples come at random, a stack that is seen in the share p of them was seen once where it comes between two
    others, and in a stretch of d seconds p * d / period times more. Each sample counts alike, at whatever rate. Of a
    stretch that may as well be the time between two samples, one alone is sure.
    """
    whole, due = float(stood.sum()), stood / period
    if not whole:
        return stood, np.ones_like(stood)
    of_stack: dict[int, float] = defaultdict(float)
    for number, one in zip(numbers, due.tolist(), strict=True):
        of_stack[number] += one
    share = np.array([of_stack[number] for number in numbers]) / due.sum()
    seen = np.where(stood > 0, 1 + share * due, 0.0)
    told: _Floats = seen / seen.sum() * min(whole, _MOST_LOST * float((seen * period).sum()))
    return told, 1 + share * np.maximum(0.0, due - _BY_CHANCE)


def _around(numbers: Sequence[int], stacks: Mapping[int, Sequence[Frame]]) -> int:
    """How many outermost frames all stacks of a loop have in common; 0 where it is one stack: that tells of none."""
    different = [stacks.get(number, ()) for number in set(numbers)]
    return _equal(different) if len(different) > 1 else 0


def _common(rows: Sequence[Row], at: int, stacks: Mapping[int, Sequence[Frame]]) -> int:
    """How many outermost frames a row has in common with the one that follows it."""
    if at + 1 == len(rows) or rows[at + 1].start_ns > rows[at].start_ns + rows[at].dur_ns:
        return 0
    return _equal([stacks.get(rows[one].stack, ()) for one in (at, at + 1)])


def _equal(stacks: Sequence[Sequence[Frame]]) -> int:
    count = 0
    for frames in zip(*stacks, strict=False):
        if any(frame != frames[0] for frame in frames):
            break
        count += 1
    return count
