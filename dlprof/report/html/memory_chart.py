"""Memory over time for a chart: the tree's, by kind of page; the peak of each phase with who stood there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dlprof.analysis import memory, memory_series
from dlprof.analysis.columns import Floats, Integers
from dlprof.analysis.memory import Limits, Memory
from dlprof.analysis.memory_parts import Moment
from dlprof.analysis.memory_series import MemorySeries
from dlprof.report import colours
from dlprof.report.html.names import cut
from dlprof.store.run import Run

_POINTS = 1500
"""Of more samples the largest of each stretch is drawn: peaks are kept."""
_BANDS = 200
"""Stretches of phases that are shaded: the longest."""
_LEAST_BAND = 0.004
"""Of the time that is drawn: shorter stretches are not to be seen."""
_NEAR = 0.5
"""From this share of a limit on it is drawn: far above the curve it would only press it down."""
_KINDS = (
    ("anonymous_bytes", "anonymous", "#56b4e9"),
    ("shared_bytes", "shared", "#cc79a7"),
    ("file_bytes", "of files", "#b8c4ce"),
    ("swap_bytes", "swapped out", "#d55e00"),
)


def of_run(run: Run) -> dict[str, Any] | None:
    """What the page's script draws (ns on the run's timeline, bytes); None: memory was not sampled."""
    series = memory_series.of_run(run)
    found = memory.of_run(run)
    if series is None or found.peak is None:
        return None
    rows = _largest(series.tree_bytes)
    begin, end = int(series.time_ns[0]), int(series.time_ns[-1])
    limit = _limit(found.limits, found.peak.bytes)
    return {
        "time_ns": series.time_ns[rows].tolist(),
        "tree_bytes": series.tree_bytes[rows].tolist(),
        "kinds": _kinds(series, rows),
        "bands": _bands(run, begin, end),
        "moments": [_told(one) for one in found.over_time],
        "peak": _told(found.peak),
        "peaks": _peaks(found),
        "limit": limit,
        "wall_ns": run.wall_ns or end,
    }


def _largest(values: Integers | Floats) -> Integers:
    """Places of the largest of each stretch, in order; all of them where they are few."""
    if len(values) <= _POINTS:
        return np.arange(len(values))
    begins = np.linspace(0, len(values), _POINTS, endpoint=False).astype(np.int64)
    ends = np.append(begins[1:], len(values))
    return np.array([low + int(np.argmax(values[low:high])) for low, high in zip(begins, ends, strict=True)], np.int64)


def _kinds(series: MemorySeries, rows: Integers) -> list[dict[str, Any]]:
    """Kinds of pages at the moments of some samples, which they sum to; those of which there is nothing are left out.

    They are looked at more rarely than the whole: between that their shares go on a line.
    """
    if not len(series.kinds_ns):
        return []
    times = series.time_ns[rows]
    parts = {name: np.interp(times, series.kinds_ns, np.nan_to_num(of)) for name, of in series.kinds.items()}
    whole = np.maximum(1.0, sum(parts.values(), np.zeros(len(times))))
    found = []
    for name, label, colour in _KINDS:
        if parts[name].any():
            values = parts[name] / whole * series.tree_bytes[rows]
            found.append({"label": label, "colour": colour, "bytes": values.astype(np.int64).tolist()})
    return found


def _bands(run: Run, begin_ns: int, end_ns: int) -> list[dict[str, Any]]:
    """The longest stretches of phases, in order of time."""
    table = run.table("phase_intervals", ("phase", "start_ns", "dur_ns"))
    least = _LEAST_BAND * max(1, end_ns - begin_ns)
    rows = [row for row in table.to_pylist() if row["dur_ns"] >= least]
    longest = sorted(rows, key=lambda row: -row["dur_ns"])[:_BANDS]
    return [
        {
            "phase": row["phase"],
            "from": row["start_ns"],
            "to": row["start_ns"] + row["dur_ns"],
            "colour": colours.of_phase(row["phase"]),
        }
        for row in sorted(longest, key=lambda row: row["start_ns"])
    ]


def _peaks(found: Memory) -> Sequence[dict[str, Any]]:
    """The peak of each phase; that of the run is drawn on its own."""
    moments = [part.peak for part in found.phases if part.peak is not None]
    return [_told(one) for one in moments if one != found.peak]


def _told(moment: Moment) -> dict[str, Any]:
    place = f"{cut(moment.file)}:{moment.line}" if moment.file else None
    return {"time_ns": moment.time_ns, "bytes": moment.bytes, "phase": moment.phase, "at": place}


def _limit(limits: Limits, peak: int) -> dict[str, Any] | None:
    """The tightest limit of resident memory, where the peak comes near it."""
    known = [
        (size, name)
        for size, name in (
            (limits.control_group, "limit of the control group"),
            (limits.machine, "memory of the machine"),
        )
        if size
    ]
    if not known or peak < _NEAR * min(known)[0]:
        return None
    size, name = min(known)
    return {"bytes": size, "name": name}
