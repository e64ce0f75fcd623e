"""Memory of the parts of a run: its phases, its epochs, equal stretches of its time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Integers, integers, steps_of
from dlprof.analysis.memory_places import Place, Places
from dlprof.analysis.memory_series import MemorySeries
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.schema.vocabulary import Loop, Phase, known_phase
from dlprof.store.run import Run
from dlprof.store.values import values

MOST_EPOCHS = 200
MOST_STEPS = 20
_NONE = -1
"""Size of a sample that does not count: kernels were traced then."""
_MOST_LOOKED_AT = 20_000
"""Samples between which growth is looked at; of a longer run each n-th."""
PARTS = 100
"""Stretches that a run is cut into."""


@dataclass(frozen=True)
class Moment:
    """What a process had at a moment, and who stood there.

    Attributes:
        time_ns: On the run's timeline.
        bytes: Resident memory of the tree of processes.
        phase: Leaf phase of the main thread; None: not known.
        file, line: The innermost line of the user's own on the main thread; None: none was sampled there.
    """

    time_ns: int
    bytes: int
    phase: str | None
    file: str | None
    line: int | None


@dataclass(frozen=True)
class PartMemory:
    """Memory of a phase or an epoch.

    Attributes:
        name: Of the phase; `epoch 1`.
        peak: Its largest sample, of those in which no kernels were traced if there are any; None: it lasted for less
            than the time between two samples.
        growth_bytes: By how much the processes that were there grew in it, all its stretches together; None likewise.
    """

    name: str
    peak: Moment | None
    growth_bytes: int | None


@dataclass(frozen=True)
class StepsMemory:
    """Memory of training steps.

    Attributes:
        largest: Those with the largest peaks, the largest first.
        sampled: Steps in which a sample was taken while no kernels were traced: the shorter they are, the fewer.
        count: All steps.
    """

    largest: tuple[PartMemory, ...]
    sampled: int
    count: int


@dataclass(frozen=True)
class _Step:
    """A training step, or several that were recorded as one: its place in the run (ns), and its largest sample.

    Numbers are from 0; epoch -1: none.
    """

    start_ns: int
    end_ns: int
    epoch: int
    step: int
    count: int
    row: int
    """Place of that sample in the series."""
    peak_bytes: int

    @property
    def name(self) -> str:
        """For people, who count from 1."""
        steps = f"step {self.step + 1}" if self.count == 1 else f"steps {self.step + 1} to {self.step + self.count}"
        return f"epoch {self.epoch + 1}, {steps}" if self.epoch >= 0 else steps


class Parts:
    """Looks at parts of a run.

    Args:
        run: The run.
        series: Its memory, with a sample at least.
    """

    def __init__(self, run: Run, series: MemorySeries) -> None:
        self._run = run
        self._series = series
        self.intervals = run.table("phase_intervals", ("phase", "start_ns", "dur_ns"))
        self._lookup = PhaseLookup(self.intervals)
        self.places = Places(run)
        self.phase_of = self._phases_of(series.time_ns)
        """Phase of each sample, as a place in `phase_names`; -1: none is known."""

    @property
    def phase_names(self) -> list[str]:
        """Names of phases."""
        return self._lookup.phases

    def _phases_of(self, times: Integers) -> Integers:
        found = np.full(len(times), -1, np.int64)
        if not self._lookup.is_empty:
            of, phase, _ = self._lookup.shares(times, times + 1)
            found[of] = phase
        return found

    def moment(self, row: int) -> Moment:
        """A sample."""
        return self.moments([row])[0]

    def moments(self, rows: list[int]) -> list[Moment]:
        """Some samples, by their places in the series."""
        times = self._series.time_ns[rows]
        places = self.places.at(times, self._lookup)
        return [self._moment(row, place) for row, place in zip(rows, places, strict=True)]

    def _moment(self, row: int, place: Place | None) -> Moment:
        phase = int(self.phase_of[row])
        file, line = place or (None, None)
        name = self.phase_names[phase] if phase >= 0 else None
        return Moment(int(self._series.time_ns[row]), int(self._series.tree_bytes[row]), name, file, line)

    def peak(self) -> Moment:
        """The largest sample of all, but for those in which kernels were traced."""
        return self.moment(self._series.largest())

    def traced_peak(self) -> Moment | None:
        """The largest sample of all, where kernels were traced then; None: they were not."""
        row = int(np.argmax(self._series.tree_bytes))
        return self.moment(row) if row != self._series.largest() else None

    def peak_of_training(self) -> Moment | None:
        """The largest sample while a model was trained; None: there is none."""
        trained = [place for place, name in enumerate(self.phase_names) if known_phase(name).parent is Phase.FIT]
        rows = np.flatnonzero(np.isin(self.phase_of, trained))
        return self._largest(rows)

    def phases(self) -> list[PartMemory]:
        """Each phase, in the order in which they begin first."""
        names = values(self.intervals["phase"])
        start = integers(self.intervals["start_ns"])
        growth = self._growth(start, start + integers(self.intervals["dur_ns"]))
        sums: dict[str, int] = {}
        for name, grown in zip(names, growth.tolist(), strict=True):
            sums[name] = sums.get(name, 0) + grown
        rows = {name: np.flatnonzero(self.phase_of == place) for place, name in enumerate(self.phase_names)}
        return [_part(name, self._largest(rows[name]), grown) for name, grown in sums.items()]

    def epochs(self) -> tuple[list[PartMemory], int]:
        """The first epochs, and how many more there are."""
        table = self._run.table("epochs", ("loop_id", "epoch", "start_ns", "dur_ns")).sort_by("start_ns")
        start = integers(table["start_ns"])[:MOST_EPOCHS]
        end = start + integers(table["dur_ns"])[:MOST_EPOCHS]
        growth = self._growth(start, end).tolist()
        time = self._series.time_ns
        rows = [np.flatnonzero((time >= low) & (time < high)) for low, high in zip(start, end, strict=True)]
        found = [
            _part(f"epoch {number + 1}", self._largest(inside), grown)
            for number, inside, grown in zip(integers(table["epoch"])[:MOST_EPOCHS].tolist(), rows, growth, strict=True)
        ]
        return found, max(0, table.num_rows - MOST_EPOCHS)

    def steps(self) -> StepsMemory:
        """The training steps with the largest peaks, of those in which a sample was taken."""
        traced = self._series.is_traced
        sizes = np.where(traced, _NONE, self._series.tree_bytes) if not traced.all() else self._series.tree_bytes
        largest: list[_Step] = []
        sampled = count = 0
        for piece in self._run.pieces("steps", ("loop", "epoch", "step", "start_ns", "dur_ns", "count")):
            rows = steps_of(piece, Loop.TRAIN)
            number, found = self._sampled(rows, sizes)
            count += int(integers(rows["count"], 1).sum())
            sampled += number
            largest = sorted([*largest, *found], key=lambda step: (-step.peak_bytes, step.start_ns))[:MOST_STEPS]
        return StepsMemory(tuple(map(self._step, largest)), sampled, count)

    def _sampled(self, rows: pa.Table, sizes: Integers) -> tuple[int, list[_Step]]:
        """How many of some steps have a sample, and those of them with the largest peaks.

        Args:
            rows: The steps.
            sizes: Size of each sample (bytes); `_NONE`: it does not count.
        """
        start = integers(rows["start_ns"])
        end = start + integers(rows["dur_ns"])
        low, high = (np.searchsorted(self._series.time_ns, edge) for edge in (start, end))
        within = np.flatnonzero(high > low)
        if not len(within):
            return 0, []
        edges = np.column_stack((low[within], high[within])).ravel()
        peaks = np.maximum.reduceat(np.append(sizes, _NONE), edges)[::2]  # the other ones are between two steps
        most = np.argsort(-peaks, kind="stable")[:MOST_STEPS]
        chosen = within[most[peaks[most] > _NONE]]
        numbers = (integers(rows["epoch"], -1), integers(rows["step"]), integers(rows["count"], 1))
        columns = [one[chosen].tolist() for one in (start, end, *numbers, low, high)]
        found = []
        for begin, until, epoch, step, count, first, last in zip(*columns, strict=True):
            row = first + int(np.argmax(sizes[first:last]))
            found.append(_Step(begin, until, epoch, step, count, row, int(sizes[row])))
        return int((peaks > _NONE).sum()), found

    def _step(self, step: _Step) -> PartMemory:
        grown = int(self._growth(np.array([step.start_ns]), np.array([step.end_ns]))[0])
        return _part(step.name, self.moment(step.row), grown)

    def over_time(self) -> list[Moment]:
        """The largest sample of each of so many equal parts of the run; parts without a sample are left out."""
        time = self._series.time_ns
        edges = np.searchsorted(time, np.linspace(time[0], time[-1] + 1, PARTS + 1))
        rows = [low + int(np.argmax(self._series.tree_bytes[low:high])) for low, high in pairwise(edges) if high > low]
        return self.moments([int(row) for row in rows])

    def grown_at(self, begin_ns: int, end_ns: int) -> tuple[str | None, Place | None, float] | None:
        """Phase and line of the samples between which memory grew most, and their share of all that it grew by.

        Args:
            begin_ns: From when on (ns).
            end_ns: Until when.
        """
        time = self._series.time_ns
        inside = np.flatnonzero((time >= begin_ns) & (time <= end_ns))
        inside = inside[:: -(-len(inside) // _MOST_LOOKED_AT) or 1]
        rows, grown = inside[1:], np.diff(self._series.own_bytes[inside])
        sums: dict[tuple[str | None, Place | None], int] = {}
        for moment, change in zip(self.moments(rows.tolist()), grown.tolist(), strict=True):
            place = (moment.file, moment.line) if moment.file is not None and moment.line is not None else None
            sums[moment.phase, place] = sums.get((moment.phase, place), 0) + change
        whole = sum(change for change in sums.values() if change > 0)
        if whole <= 0:
            return None
        (phase, place), most = max(sums.items(), key=lambda item: item[1])
        return phase, place, most / whole

    def _growth(self, start: Integers, end: Integers) -> Integers:
        return self._series.grown(start, end)

    def _largest(self, rows: Integers) -> Moment | None:
        return self.moment(self._series.largest(rows)) if len(rows) else None


def _part(name: str, peak: Moment | None, grown: int) -> PartMemory:
    """Without a sample in it, what lies on a line between those around it is not known to be its own growth."""
    return PartMemory(name, peak, grown if peak is not None else None)
