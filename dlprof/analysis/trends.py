"""What else becomes more with the steps of a training, beside memory: their time, graphs, tensors, threads, files ...

Each is a slope over the steps with its interval (`slopes`). Counts of threads and open descriptors are the traced
process's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dlprof.analysis import slopes
from dlprof.analysis.columns import Floats, Integers, integers, steps_of, truths, under_tracer
from dlprof.analysis.slopes import Least, NotMeasured, Slope, Steps
from dlprof.schema.vocabulary import Loop, SpanKind, Trended
from dlprof.store.run import Run

HOW: Mapping[Trended, str] = MappingProxyType(
    {
        Trended.STEP_TIME: "durations of train steps, without those in which something was compiled or kernels traced",
        Trended.GRAPHS: "graphs that were compiled until then",
        Trended.TENSORS: "arrays of engines among the objects that Python's garbage collector knows",
        Trended.OBJECTS: "objects that Python's garbage collector knows: no numbers, texts, arrays of NumPy",
        Trended.BLOCKS: "pieces of memory of up to 512 bytes that Python gave out: numbers and texts, too",
        Trended.THREADS: "threads of the traced process, as the kernel counts them",
        Trended.DESCRIPTORS: "descriptors (files, pipes, sockets) that the traced process has open",
        Trended.PROCESSES: "processes below the traced one",
    }
)
_LEAST_MORE: Mapping[Trended, tuple[float, float]] = MappingProxyType(
    {
        Trended.STEP_TIME: (0, 0.10),
        Trended.GRAPHS: (3, 0.0),
        Trended.TENSORS: (64, 0.05),
        Trended.OBJECTS: (2_000, 0.03),
        Trended.BLOCKS: (20_000, 0.03),
        Trended.THREADS: (16, 0.10),
        Trended.DESCRIPTORS: (16, 0.10),
        Trended.PROCESSES: (4, 0.10),
    }
)
"""What more there must be that it grows: a number, and a share of what there was."""
_SHORT = "the training is too short behind its warm-up: %d samples, 24 steps and 1.5 s are needed"
_OFTEN, _SELDOM, _RARELY = (Least(count, 24, 1_500_000_000, _SHORT % count) for count in (16, 5, 4))
"""What differs from step to step; what is an exact count, looked at about once a second; the same, now and then."""
_FEW, _NEAR = 8, 0.1
"""Of fewer samples it grows only where none of them is farther from the line than by this share of the rise."""
_PARTS = 240
"""Of steps whose times are looked at; each part has its median."""
_MOST_STEPS = _MOST_SAMPLES = 100_000
_NAMED = 4
_OF_HANDLES = 0.1
"""Of those that were looked at: what is of a rarer name is not what there is more of."""


@dataclass(frozen=True)
class Named:
    """Of what becomes more, a part.

    Attributes:
        name: A type of Python, the target of descriptors, the name of threads; numbers of the latter two are `#`.
        count: How many there were when they were last named.
        more_count: How many more than when they were first counted in the steps; None: not known.
    """

    name: str
    count: int
    more_count: int | None


@dataclass(frozen=True)
class Trend:
    """How something went with the steps.

    Attributes:
        quantity: What.
        slope: In ns (step_time) or in numbers.
        samples: How many it is made of.
        steps_per_epoch: Mean; None: there are fewer than two epochs.
        names: What there is more of, where it grows and that is known.
    """

    quantity: Trended
    slope: Slope
    samples: int
    steps_per_epoch: float | None
    names: tuple[Named, ...] = ()

    @property
    def unit(self) -> str:
        """Of the slope."""
        return "ns" if self.quantity is Trended.STEP_TIME else "count"

    @property
    def is_growing(self) -> bool:
        """Whether it grows beyond doubt, from beginning to end, and by what is worth a word."""
        number, share = _LEAST_MORE[self.quantity]
        rise = self.slope.last - self.slope.first
        if self.samples < _FEW and self.slope.farthest > _NEAR * rise:
            return False
        return self.slope.grows_by(max(number, share * self.slope.first))

    @property
    def per_epoch(self) -> float | None:
        """The slope times the steps of an epoch."""
        return self.slope.per_step * self.steps_per_epoch if self.steps_per_epoch is not None else None


@dataclass(frozen=True)
class Trends:
    """All of a run.

    Attributes:
        found: Those that could be told.
        not_measured: The others, and why.
    """

    found: tuple[Trend, ...]
    not_measured: Mapping[Trended, str]

    def of(self, quantity: Trended) -> Trend | None:
        """That of a quantity; None: it could not be told."""
        return next((one for one in self.found if one.quantity is quantity), None)


@dataclass(frozen=True)
class _Samples:
    time_ns: Integers
    values: Floats
    least: Least


def of_run(run: Run) -> Trends:
    """The trends of a run."""
    return run.once("trends", _of_run)


def _of_run(run: Run) -> Trends:
    try:
        steps = slopes.steps_of_run(run)
    except NotMeasured as why:
        return Trends((), dict.fromkeys(Trended, str(why)))
    per_epoch = _steps_per_epoch(run)
    found, reasons = [], {}
    for quantity, samples in _samples(run, steps):
        if isinstance(samples, str):
            reasons[quantity] = samples
            continue
        try:
            slope = steps.slope(samples.time_ns, samples.values, samples.least)
        except NotMeasured as why:
            reasons[quantity] = str(why)
            continue
        count = int(((samples.time_ns >= slope.begin_ns) & (samples.time_ns <= slope.end_ns)).sum())
        trend = Trend(quantity, slope, count, per_epoch)
        found.append(replace(trend, names=tuple(_names(run, quantity, slope))) if trend.is_growing else trend)
    return Trends(tuple(found), reasons)


def _steps_per_epoch(run: Run) -> float | None:
    counts = integers(run.table("epochs", ("steps",))["steps"])
    return float(counts[counts > 0].mean()) if (counts > 0).sum() > 1 else None


def _samples(run: Run, steps: Steps) -> Iterator[tuple[Trended, _Samples | str]]:
    """Samples of each quantity, or why there are none."""
    yield Trended.STEP_TIME, _step_times(run)
    yield Trended.GRAPHS, _graphs(run, steps)
    yield from _held(run)
    yield from _of_processes(run)


def _step_times(run: Run) -> _Samples | str:
    columns = ("loop", "loop_id", "start_ns", "dur_ns", "count", "compiled")
    windows, stride = run.table("kernel_windows"), 1 + run.count("steps") // _MOST_STEPS
    times, durs = [], []
    for piece in run.pieces("steps", columns):
        rows = steps_of(piece, Loop.TRAIN).sort_by("start_ns")
        plain = ~truths(rows["compiled"]) & ~under_tracer(rows, windows)
        start, dur = integers(rows["start_ns"])[plain], integers(rows["dur_ns"])[plain]
        times.append((start + dur)[::stride])
        durs.append((dur / np.maximum(1, integers(rows["count"], 1)[plain]))[::stride])
    time = np.concatenate(times) if times else np.empty(0, np.int64)
    if not len(time):
        return "no plain step was seen"
    order = np.argsort(time, kind="stable")
    # Of medians: a short batch at the end of an epoch is no step that is faster than all before.
    parts = _alike(order, min(_PARTS, len(order)))
    dur = np.concatenate(durs)
    medians = [np.median(dur[rows], axis=1) for rows in parts]
    return _Samples(np.concatenate([time[rows[:, -1]] for rows in parts]), np.concatenate(medians), _OFTEN)


def _alike(order: Integers, parts: int) -> tuple[Integers, Integers]:
    """As many parts of about the same size: those that are longer by one as rows, then the others."""
    size, longer = divmod(len(order), parts)
    cut = longer * (size + 1)
    return order[:cut].reshape(longer, size + 1), order[cut:].reshape(parts - longer, size)


def _graphs(run: Run, steps: Steps) -> _Samples | str:
    spans = run.chosen("spans", "kind", (SpanKind.GRAPH_COMPILE,), ("start_ns", "dur_ns"))
    ends = np.array(sorted(row["start_ns"] + row["dur_ns"] for row in spans), np.int64)
    if not len(ends):
        return "nothing was seen to be compiled"
    return _Samples(steps.time_ns, np.searchsorted(ends, steps.time_ns, "right").astype(np.float64), _OFTEN)


_NO_BLOCKS = "Python was not asked: the loop was not on the main thread, or the run is of a dlprof that did not ask"
_NOT_COUNTED = (
    "they were not counted: that is done for 0.1 % of the time at most, and where Python holds no more than 2 million "
    "pieces of memory"
)


def _held(run: Run) -> Iterator[tuple[Trended, _Samples | str]]:
    """What Python holds."""
    table, lost = run.table("held_objects", ("time_ns", "kind", "count")), run.missing("held_objects")
    for quantity, least in ((Trended.TENSORS, _RARELY), (Trended.OBJECTS, _RARELY), (Trended.BLOCKS, _SELDOM)):
        rows = table.filter(pc.equal(table["kind"], quantity.value))
        if not rows.num_rows:
            yield quantity, lost or (_NO_BLOCKS if quantity is Trended.BLOCKS else _NOT_COUNTED)
        else:
            yield quantity, _Samples(integers(rows["time_ns"]), integers(rows["count"]).astype(np.float64), least)


def _of_processes(run: Run) -> Iterator[tuple[Trended, _Samples | str]]:
    """Threads and descriptors of the traced process, and how many processes there are below it."""
    if not run.count("process_samples"):
        why = run.missing("process_samples") or "no sample of processes was taken"
        yield from ((one, why) for one in (Trended.THREADS, Trended.DESCRIPTORS, Trended.PROCESSES))
        return
    for quantity in (Trended.THREADS, Trended.DESCRIPTORS):
        time, values = _own(run, quantity.value)
        if len(time):
            yield quantity, _Samples(time, values.astype(np.float64), _SELDOM)
        else:
            yield quantity, "the kernel does not tell, or the run is of a dlprof that did not look"
    time, _ = _own(run, "rss_bytes")
    yield Trended.PROCESSES, _below(run, time) if len(time) else "the process itself was not sampled"


def _own(run: Run, column: str) -> tuple[Integers, Integers]:
    """Samples of the traced process in which that column is told, of many each n-th: when, and its values."""
    stride, times, values = 1 + run.count("process_samples") // _MOST_SAMPLES, [], []
    for piece in run.pieces("process_samples", ("pid", "time_ns", column)):
        mine = piece.filter(pc.and_(pc.equal(piece["pid"], run.manifest.process.pid), pc.is_valid(piece[column])))
        times.append(integers(mine["time_ns"])[::stride])
        values.append(integers(mine[column])[::stride])
    if not times:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    time, first = np.unique(np.concatenate(times), return_index=True)
    return time, np.concatenate(values)[first]


def _below(run: Run, time_ns: Integers) -> _Samples:
    """How many processes there are below the traced one at these moments, in order."""
    counts = np.zeros(len(time_ns))
    for piece in run.pieces("process_samples", ("pid", "time_ns", "rss_bytes")):
        # One that has ended, and that nobody has waited for, has nothing resident.
        there = piece.filter(
            pc.and_(pc.not_equal(piece["pid"], run.manifest.process.pid), pc.greater(piece["rss_bytes"], 0))
        )
        times = integers(there["time_ns"])
        places = np.searchsorted(time_ns, times)
        known = places < len(time_ns)
        known[known] = time_ns[places[known]] == times[known]
        counts += np.bincount(places[known], minlength=len(time_ns))
    return _Samples(time_ns, counts, _SELDOM)


def _names(run: Run, quantity: Trended, slope: Slope) -> Iterator[Named]:
    """What there is more of, at the end of the steps."""
    if quantity in (Trended.THREADS, Trended.DESCRIPTORS):
        yield from _handles(run, quantity, slope)
    elif quantity is Trended.OBJECTS:
        yield from _types(run, slope)


def _handles(run: Run, quantity: Trended, slope: Slope) -> Iterator[Named]:
    """What the newest were when they were last named in the steps, but for those of rare names."""
    rows = _within(run, "handles", quantity.value, slope)
    last = max((row["time_ns"] for row in rows), default=0)
    common = (row for row in rows if row["time_ns"] == last and row["of_name"] >= _OF_HANDLES * row["looked_at"])
    for row in sorted(common, key=lambda row: -row["of_name"])[:_NAMED]:
        yield Named(row["name"], row["of_name"], None)


def _types(run: Run, slope: Slope) -> Iterator[Named]:
    """Types of which there are more than when objects were first counted in the steps."""
    rows = _within(run, "held_objects", "type", slope)
    counted = [row["time_ns"] for row in run.rows("held_objects") if row["kind"] == Trended.OBJECTS]
    last = max((row["time_ns"] for row in rows), default=0)
    # Told are how many more there are than at the first count of all, which may be of the warm-up.
    is_first_inside = min(counted, default=0) >= slope.begin_ns
    earliest: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: row["time_ns"]):
        earliest.setdefault(row["name"], row["count"])
    found = [
        Named(row["name"], row["count"], row["more_count"] if is_first_inside else row["count"] - earliest[row["name"]])
        for row in rows
        if row["time_ns"] == last
    ]
    yield from sorted((one for one in found if one.more_count), key=lambda one: -(one.more_count or 0))[:_NAMED]


def _within(run: Run, table: str, kind: str, slope: Slope) -> list[dict[str, Any]]:
    """Rows of the traced process, of that kind, between the first and the last sample."""
    return [
        row
        for row in run.rows(table)
        if row["kind"] == kind
        and slope.begin_ns <= row["time_ns"] <= slope.end_ns
        and row["pid"] == run.manifest.process.pid
    ]
