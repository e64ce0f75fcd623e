"""Curves below a page's timeline: memory and CPU of the process tree, CPU of other processes, and GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlprof.analysis import process_moments
from dlprof.analysis.columns import Integers
from dlprof.analysis.timeline.series import Series, of_gpus, of_others
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
    for series in of_others(run):
        yield _curve(series, "CPU of others", series.unit, "cpu")
    for series in of_gpus(run):
        if series.name in _GPU_SERIES:
            label = cut(f"{series.group} {series.name}")
            if series.unit == "bytes":
                yield _curve(series, label, "MB", "gpu MB", scale=_MEGA)
            else:
                yield _curve(series, label, series.unit, f"gpu {series.unit}")


def _tree(run: Run) -> Iterator[Curve]:
    moments = list(process_moments.of_run(run))
    if not moments:
        return
    time, interval = (np.concatenate([getattr(one, name) for one in moments]) for name in ("time_ns", "interval_ns"))
    cpu, memory = (np.concatenate([getattr(one, name) for one in moments]) for name in ("cpu_pct", "rss_bytes"))
    for since, values, name, unit, axis, scale in (
        (time, memory, "memory of the process tree", "MB", "memory", _MEGA),
        (time - interval, cpu, "CPU of the process tree", "% of a core", "cpu", 1.0),  # holds for the interval before
    ):
        known = np.isfinite(values)
        if known.any():
            yield _curve(Series("tree", name, "", since[known], values[known]), name, unit, axis, scale=scale)


def _curve(series: Series, label: str, unit: str, axis: str, *, scale: float = 1.0) -> Curve:
    """A series of at most about _POINTS values, each a mean of neighbours, with NaN where nothing was measured."""
    times, values = series.time_ns.astype(np.int64), series.values * scale
    if len(times) > _POINTS:
        begins = np.linspace(0, len(times), _POINTS, endpoint=False).astype(int)
        values = np.add.reduceat(values, begins) / np.diff(np.append(begins, len(times)))
        times = times[begins]
    return Curve(label, unit, axis, *_with_holes(times, values))


def _with_holes(times: Integers, values: Floats) -> tuple[Integers, Floats]:
    """The same with a NaN behind each value that is followed by a hole.

    Where sampling has become rarer, because it took too much, its gaps are long, and so are those beside them.
    """
    intervals = np.diff(times)
    if not len(intervals):
        return times, values
    usual = np.median(intervals)
    beside = np.maximum(np.append(0, intervals[:-1]), np.append(intervals[1:], 0))
    holes = np.flatnonzero(intervals > _HOLE * np.maximum(usual, beside))
    return np.insert(times, holes + 1, times[holes] + int(usual)), np.insert(values, holes + 1, np.nan)
