"""Pythons below the program that have runs of their own: how much of a wait is for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dlprof.analysis.findings.case import Case
from dlprof.analysis.stretches import Stretches
from dlprof.schema.manifest import FollowedRun
from dlprof.schema.vocabulary import Phase
from dlprof.units import duration

_MOST = 0.8
"""Share of the program's own time in which some of them must run, for it to wait for these."""


@dataclass(frozen=True)
class Children:
    """Pythons with runs of their own.

    Attributes:
        count: How many there are.
        longest: That which ran longest.
    """

    count: int
    longest: FollowedRun

    @property
    def told(self) -> str:
        """`2 Pythons that it started run; the longest is children/001-train, 15.4 s`."""
        wall = duration(self.longest.wall_ns)
        if self.count == 1:
            return f"a Python that it started runs ({self.longest.run}, {wall})"
        return f"{self.count} Pythons that it started run; the longest is {self.longest.run}, {wall}"


def waited_for(case: Case) -> Children | None:
    """The followed Pythons that the program waits for; None: there are none, or it is mostly without them."""
    told = case.run.manifest.followed
    runs = {one.pid: one for one in told.runs if one.wall_ns} if told is not None else {}
    if not runs:
        return None
    rows = case.run.rows("processes")
    ran = Stretches.of(_time(row, case.tree.wall_ns) for row in rows if row["pid"] in runs)
    own = case.run.chosen("phase_intervals", "phase", (Phase.SCRIPT,), ("start_ns", "dur_ns"))
    script = Stretches.of((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in own)
    if not script.ns or script.shared_ns(ran) < _MOST * script.ns:
        return None
    return Children(len(runs), max(runs.values(), key=lambda one: one.wall_ns or 0))


def _time(row: Mapping[str, Any], wall_ns: int) -> tuple[int, int]:
    """From when a process began to its end, or that of the run."""
    return row["start_ns"] or 0, wall_ns if row["end_ns"] is None else row["end_ns"]
