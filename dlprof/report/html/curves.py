"""Curves below a page's timeline: memory and CPU of the process tree, CPU of other processes, and GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.timeline.series import Series, all_series
from dlprof.report.html.names import cut
from dlprof.store.run import Run

_POINTS = 2000
_HOLE = 4.0
"""A gap of so many usual intervals is one in which nothing was measured."""
_GPU_SERIES = ("utilisation", "memory used", "power", "SM clock", "temperature")
_MEGA = 1e-6
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A series that is drawn.

    Attributes:
        label: For people.
        unit: Of the values.
        axis: Curves of one axis share their scale.
        time_ns: Since when each value holds (ns).
        values: NaN: not measured.
    """

    label: str
    unit: str
    axis: str
    time_ns: Integers
    values: Floats


def of_run(run: Run) -> Iterator[Curve]:
    """All curves of a run that have values."""
    yield from _tree(run)
    for series in all_series(run):
        if series.name == "other processes":
            yield _curve(series, "CPU of others", series.unit, "cpu")
        elif series.name in _GPU_SERIES and series.group.startswith("GPU"):
            label = cut(f"{series.group} {series.name}")
            if series.unit == "bytes":
                yield _curve(series, label, "MB", "gpu MB", scale=_MEGA)
            else:
                yield _curve(series, label, series.unit, f"gpu {series.unit}")


def _tree(run: Run) -> Iterator[Curve]:
    memory = _sums(run, "rss_bytes", "memory of the process tree")
    if len(memory.time_ns):
        yield _curve(memory, memory.name, "MB", "memory", scale=_MEGA)
    cpu = _sums(run, "cpu_pct", "CPU of the process tree")
    if len(cpu.time_ns):
        yield _curve(cpu, cpu.name, "% of a core", "cpu")


def _sums(run: Run, column: str, name: str) -> Series:
    """Sums over the processes that were sampled at the same time; CPU holds for the interval before its sample."""
    table = run.table("process_samples", ("time_ns", "interval_ns", column))
    known = table.filter(pc.is_valid(table[column]))
    since = integers(known["time_ns"]) - (integers(known["interval_ns"]) if column == "cpu_pct" else 0)
    times, place = np.unique(since, return_inverse=True)
    sums = np.bincount(place, weights=known[column].to_numpy().astype(float), minlength=len(times)).astype(float)
    return Series("tree", name, "", times, sums)


def _curve(series: Series, label: str, unit: str, axis: str, *, scale: float = 1.0) -> Curve:
    """A series of at most about _POINTS values, each a mean of neighbours, with NaN where nothing was measured."""
    times, values = series.time_ns.astype(np.int64), series.values * scale
    if len(times) > _POINTS:
        begins = np.linspace(0, len(times), _POINTS, endpoint=False).astype(int)
        values = np.add.reduceat(values, begins) / np.diff(np.append(begins, len(times)))
        times = times[begins]
    return Curve(label, unit, axis, *_with_holes(times, values))


def _with_holes(times: Integers, values: Floats) -> tuple[Integers, Floats]:
    """The same with a NaN behind each value that is followed by a hole."""
    intervals = np.diff(times)
    if not len(intervals):
        return times, values
    usual = np.median(intervals)
    holes = np.flatnonzero(intervals > _HOLE * usual)
    return np.insert(times, holes + 1, times[holes] + int(usual)), np.insert(values, holes + 1, np.nan)
