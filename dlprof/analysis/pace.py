"""What a step takes where its call returns before the device has done it: by what was waited for, never by the call.

Keras turns the logs of each batch into numbers, on this thread or on one of its own, so the moment is known at which
each step was done. Between two such moments the device did the steps between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, in_windows, integers, steps_of, total, truths, under_tracer
from dlprof.schema.vocabulary import Loop, Phase
from dlprof.store.run import Run

_COLUMNS: Mapping[str, Sequence[str] | None] = {
    "steps": ("loop", "loop_id", "epoch", "step", "count", "start_ns", "dur_ns", "input_ns", "compiled", "samples"),
    "epochs": None,
    "metrics": ("loop_id", "epoch", "step", "time_ns"),
    "phase_intervals": ("phase", "start_ns", "dur_ns"),
    "kernel_windows": None,
}
TABLES = tuple(_COLUMNS)
"""The tables that are looked at."""
_NOT_SEEN = -1
_PHASES = (Phase.FIT_STEPS, Phase.FIT_INPUT, Phase.FIT_WAIT, Phase.FIT_CALLBACKS)
"""What an epoch consists of while it trains."""


def tables_of(run: Run) -> Mapping[str, pa.Table]:
    """The tables of a run that are looked at, of large ones the columns."""
    return {name: run.table(name, columns) for name, columns in _COLUMNS.items()}


@dataclass(frozen=True)
class Pace:
    """Steps that were waited for.

    Attributes:
        time_ns: What they took together (ns).
        steps: How many they are, at least one.
        samples: Their samples; None: not known.
    """

    time_ns: int
    steps: int
    samples: int | None

    @property
    def step_ns(self) -> int:
        """The mean step (ns)."""
        return self.time_ns // self.steps

    @property
    def samples_per_s(self) -> float | None:
        """Samples in a second; None: not known."""
        return self.samples / (self.time_ns / 1e9) if self.samples is not None and self.time_ns > 0 else None


def of_training(run: Mapping[str, pa.Table]) -> Pace | None:
    """Of the training loop, without steps that compiled or were traced; None: none was waited for.

    Args:
        run: The tables of `TABLES`.
    """
    return _by_values(run) or _by_epochs(run)


def of_calls(run: Mapping[str, pa.Table], loop: Loop, spans: pa.Table) -> Pace | None:
    """Of evaluate or predict: each call gives numbers, so that all of its steps are done when it ends.

    Args:
        run: The tables of `TABLES`.
        loop: `test` or `predict`.
        spans: Table `spans`, with the calls.

    Returns:
        None where no call, and no rest of one behind what was compiled in it, has a plain step.
    """
    rows = _Rows.of(run, loop)
    if not len(rows.loop):
        return None
    calls = _Calls.of(rows, spans, np.sort(integers(run["metrics"]["time_ns"])))
    whole = calls.is_told & calls.is_whole
    return calls.sum(rows, whole if whole.any() else calls.is_told)


def of_window(run: Mapping[str, pa.Table], loop: Loop) -> Pace | None:
    """Of the kernel windows of a loop, before and after which the device was idle; None: it had none.

    Steps that compiled, which their call waits for, are taken out.

    Args:
        run: The tables of `TABLES`.
        loop: The loop.
    """
    windows = [row for row in run["kernel_windows"].to_pylist() if row["loop"] == loop and row["steps"]]
    if not windows:
        return None
    steps = steps_of(run["steps"], loop)
    steps = steps.filter(pa.array(in_windows(steps, run["kernel_windows"])))
    compiled = steps.filter(steps["compiled"])
    samples = steps.filter(pc.invert(steps["compiled"]))["samples"]
    known = len(samples) and not samples.null_count
    time = sum(row["dur_ns"] for row in windows) - total(compiled["dur_ns"]) - total(compiled["input_ns"])
    count = sum(row["steps"] for row in windows) - total(compiled["count"])
    return Pace(time, count, total(samples) if known else None) if time > 0 and count > 0 else None


def is_told(run: Mapping[str, pa.Table]) -> bool:
    """Whether values of each epoch were read: the script did not only dispatch its steps."""
    return bool(run["epochs"].num_rows and run["metrics"].num_rows)


@dataclass(frozen=True)
class _Stretch:
    """Some rows of steps that were waited for."""

    rows: Integers
    time_ns: int
    is_whole: bool
    """Whether nothing of its epoch is missing."""


@dataclass(frozen=True)
class _Rows:
    """Steps of a loop in order of time, an array each; times in ns."""

    loop: Integers
    epoch: Integers
    last: Integers
    """Index of the last batch of the row."""
    begin: Integers
    """When its batch was asked for."""
    end: Integers
    count: Integers
    samples: Integers
    """`_NOT_SEEN` where not known."""
    odd: Truths
    """Something was compiled in it, or it was traced."""

    @classmethod
    def of(cls, run: Mapping[str, pa.Table], loop: Loop) -> _Rows:
        steps = steps_of(run["steps"], loop).sort_by("start_ns")
        start, count = integers(steps["start_ns"]), integers(steps["count"], 1)
        compiled = truths(steps["compiled"])
        odd = compiled | under_tracer(steps, run["kernel_windows"])
        return cls(
            loop=integers(steps["loop_id"]),
            epoch=integers(steps["epoch"], _NOT_SEEN),
            last=integers(steps["step"]) + count - 1,
            begin=start - integers(steps["input_ns"]),
            end=start + integers(steps["dur_ns"]),
            count=count,
            samples=integers(steps["samples"], _NOT_SEEN),
            odd=compiled if odd.all() else odd,
        )


def _sum(rows: _Rows, stretches: list[_Stretch]) -> Pace | None:
    if not stretches:
        return None
    return _paced(rows, np.concatenate([one.rows for one in stretches]), sum(one.time_ns for one in stretches))


def _paced(rows: _Rows, own: Integers, time_ns: int, before: int = 0) -> Pace | None:
    """Some rows, which took so long with so many steps that were dispatched before; None: none, or no time."""
    steps = int(rows.count[own].sum()) + before
    if steps <= 0 or time_ns <= 0:
        return None
    samples = rows.samples[own]
    known = not (samples == _NOT_SEEN).any()
    # Those before are of the same size: a batch that is not full is the last of its epoch.
    return Pace(time_ns, steps, int(samples.sum()) + (before * int(samples.max()) if before else 0) if known else None)


def _by_values(run: Mapping[str, pa.Table]) -> Pace | None:
    """Between the moments at which values of steps were known; None: there are no such moments."""
    rows = _Rows.of(run, Loop.TRAIN)
    if not len(rows.loop) or not run["metrics"].num_rows:
        return None
    done = _done(run["metrics"], rows)
    found = [one for low, high in _plain(rows) if (one := _between(rows, done, low, high)) is not None]
    return _sum(rows, [one for one in found if one.is_whole] or found)


def _done(metrics: pa.Table, rows: _Rows) -> Integers:
    """When the values of each row's last batch were known (ns); `_NOT_SEEN`: never."""
    known = metrics.filter(pc.and_(pc.is_valid(metrics["step"]), pc.is_valid(metrics["epoch"])))
    done = np.full(len(rows.loop), _NOT_SEEN)
    if not known.num_rows:
        return done
    loop, epoch, step, time = (integers(known[name]) for name in ("loop_id", "epoch", "step", "time_ns"))
    epochs, number = np.unique((loop << 32) + epoch, return_inverse=True)
    keys = (number << 32) + step
    order = np.argsort(keys, kind="stable")
    own = (rows.loop << 32) + rows.epoch
    place = np.minimum(np.searchsorted(epochs, own), len(epochs) - 1)
    key = (place << 32) + rows.last
    last = order[np.maximum(np.searchsorted(keys[order], key, side="right") - 1, 0)]  # of several that told last
    seen = (epochs[place] == own) & (keys[last] == key)
    done[seen] = time[last][seen]
    return done


def _plain(rows: _Rows) -> Iterator[tuple[int, int]]:
    """Rows of plain steps of one epoch that follow each other, as [low, high)."""
    changes = (np.diff(rows.loop) != 0) | (np.diff(rows.epoch) != 0) | (np.diff(rows.odd.astype(np.int8)) != 0)
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(rows.loop)]
    return ((low, high) for low, high in pairwise(edges) if not rows.odd[low])


def _between(rows: _Rows, done: Integers, low: int, high: int) -> _Stretch | None:
    known = np.flatnonzero(done[low:high] != _NOT_SEEN) + low
    if not len(known):
        return None
    begins = low == 0 or (rows.loop[low - 1], rows.epoch[low - 1]) != (rows.loop[low], rows.epoch[low])
    ends = high == len(rows.loop) or (rows.loop[high], rows.epoch[high]) != (rows.loop[low], rows.epoch[low])
    last = int(known[-1])
    if begins:
        first, since = low, int(rows.begin[low])
    elif done[low - 1] != _NOT_SEEN:
        # Behind a window the device is idle: its steps begin when the tracer is off.
        first, since = low, max(int(done[low - 1]), int(rows.begin[low]))
    else:
        first, since = int(known[0]) + 1, int(done[known[0]])
    if first > last:
        return None
    return _Stretch(np.arange(first, last + 1), int(done[last]) - since, bool(begins and ends and last == high - 1))


@dataclass(frozen=True)
class _Calls:
    """Calls of evaluate or predict, by the steps behind what was compiled or traced in them; an array each.

    Attributes:
        first, behind: Those steps of each call, as places in `order`: the first, and behind the last.
        order: Rows of steps, call by call.
        time_ns: What they took together (ns).
        before: Steps that were dispatched in the call before them, and done in it.
        is_whole: Nothing is missing of the call.
        is_told: It has such a step, and its end is known.
    """

    first: Integers
    behind: Integers
    order: Integers
    time_ns: Integers
    before: Integers
    is_whole: Truths
    is_told: Truths

    @classmethod
    def of(cls, rows: _Rows, spans: pa.Table, valued: Integers) -> _Calls:
        """Those of some steps.

        Args:
            rows: Steps of the loop, in order of time.
            spans: Table `spans`, with the calls.
            valued: Moments at which values of training steps were known, in order (ns).
        """
        order = np.argsort(rows.loop, kind="stable")
        numbers, low = np.unique(rows.loop[order], return_index=True)
        behind = np.append(low[1:], len(order))
        # The last odd step of each call, as a place in `order`; below `low` where it has none.
        odd = np.maximum.accumulate(np.where(rows.odd[order], np.arange(len(order)), -1))[behind - 1]
        is_whole = odd < low
        first = np.where(is_whole, low, odd + 1)
        begin = rows.begin[order][np.minimum(first, len(order) - 1)]
        end = _ends(spans, numbers)
        # Where it began while the device was still training, its own steps came after.
        trained = np.searchsorted(valued, end) - 1
        known = np.append(valued, np.iinfo(np.int64).min)[trained]  # -1, the last: there was none
        return cls(
            first, behind, order, end - np.maximum(begin, known),
            np.where(is_whole, 0, rows.count[order][np.maximum(odd, 0)]), is_whole, (first < behind) & (end > begin),
        )  # fmt: skip

    def sum(self, rows: _Rows, kept: Truths) -> Pace | None:
        """Some of the calls together; None: there is none, or they have no steps, or took no time."""
        steps = self.order[_ranges(self.first[kept], self.behind[kept])]
        time = int(self.time_ns[kept].sum())
        return _paced(rows, steps, time, int(self.before[kept].sum()))


def _ranges(first: Integers, behind: Integers) -> Integers:
    """The numbers of some ranges, one after the other."""
    lengths = behind - first
    return np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())


def _ends(spans: pa.Table, numbers: Integers) -> Integers:
    """End of each span of some numbers, which rise (ns); 0: there is none."""
    own = spans.filter(pc.is_in(spans["span_id"], pa.array(numbers, spans["span_id"].type)))
    ends = np.zeros(len(numbers), np.int64)
    ends[np.searchsorted(numbers, integers(own["span_id"]))] = integers(own["start_ns"]) + integers(own["dur_ns"])
    return ends


def _by_epochs(run: Mapping[str, pa.Table]) -> Pace | None:
    """Over epochs that have neither a first step nor a window: what was dispatched before would count in."""
    rows = _Rows.of(run, Loop.TRAIN)
    order = np.argsort(rows.end, kind="stable")
    ends, odd = rows.end[order], np.concatenate(([0], np.cumsum(rows.odd[order])))
    begin = integers(run["epochs"]["start_ns"])
    end = begin + integers(run["epochs"]["dur_ns"])
    times = _times_in(run["phase_intervals"], begin, end, run["kernel_windows"])
    first, last = np.searchsorted(ends, begin, side="right"), np.searchsorted(ends, end, side="right")
    plain = np.flatnonzero((last > first) & (odd[last] == odd[np.minimum(first, last)]) & (times > 0))
    return _sum(rows, [_Stretch(order[first[n] : last[n]], int(times[n]), True) for n in plain.tolist()])


def _times_in(intervals: pa.Table, begin: Integers, end: Integers, windows: pa.Table) -> Integers:
    """Time of steps in each epoch without kernel windows, compilation and validation (ns)."""
    own = intervals.filter(pc.is_in(intervals["phase"].cast(pa.string()), pa.array([str(one) for one in _PHASES])))
    starts = integers(own["start_ns"])
    lengths = integers(own["dur_ns"])
    before = np.concatenate(([0], np.cumsum(lengths)))

    def until(moment: Integers) -> Integers:
        """Time of steps until some moments; stretches of phases do not overlap."""
        row = np.searchsorted(starts, moment, side="right") - 1
        known = np.maximum(row, 0)
        inside = np.minimum(moment - starts[known], lengths[known]) if len(starts) else np.zeros(len(moment), np.int64)
        return np.where(row < 0, 0, before[known] + inside)

    times = until(end) - until(begin)
    for window in windows.to_pylist():
        if window["loop"]:
            low = np.maximum(begin, window["start_ns"])
            high = np.minimum(end, window["start_ns"] + window["dur_ns"])
            times -= np.where(high > low, until(high) - until(low), 0)
    return np.asarray(times, np.int64)
