"""When the main thread was in which phase, and which stretches of time fall into which."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import scheduling
from dlprof.analysis.columns import Integers
from dlprof.analysis.findings.calls import Interval
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Loop, Phase, known_phase
from dlprof.store.run import Run


class TrainingSteps(NamedTuple):
    """The training steps in order of time, an array each (ns)."""

    begin: Integers
    end: Integers
    callbacks: Integers
    """Time in callbacks, at the end of the step."""
    waited: Integers
    """Time of waiting for the batch, before the step."""


class PhaseTimes:
    """The phases of a run over time.

    Args:
        run: The run.
        wall_ns: Its wall time (ns).
    """

    def __init__(self, run: Run, wall_ns: int) -> None:
        self.lookup = PhaseLookup(run.table("phase_intervals"))
        self._run = run
        self._wall_ns = wall_ns

    @cached_property
    def training_span(self) -> Interval:
        """From the first step's begin to the last one's end; the whole run where there was none."""
        return scheduling.training_span(self._run, self._wall_ns)

    @cached_property
    def training_steps(self) -> TrainingSteps:
        """The steps of the training loops."""
        columns = ("loop", "start_ns", "dur_ns", "callbacks_ns", "input_ns")
        table = self._run.filtered("steps", columns, _is_of_training).sort_by("start_ns")
        names = ("start_ns", "dur_ns", "callbacks_ns", "input_ns")
        start, dur, callbacks, waited = (np.asarray(pc.fill_null(table[name], 0)) for name in names)
        return TrainingSteps(start, start + dur, callbacks, waited)

    def host(self, phase: Phase) -> int:
        """Time of the host in a phase, whatever the device did beside it (ns)."""
        return sum(row["dur_ns"] for row in self._run.rows("phases") if row["phase"] == phase)

    def of(self, intervals: Iterable[Interval]) -> dict[TreePath, int]:
        """Time of some intervals in each leaf phase (ns)."""
        times: dict[TreePath, int] = {}
        edges = np.array(list(intervals), np.int64).reshape(-1, 2)
        of, phases, dur = self.lookup.shares(edges[:, 0], edges[:, 1])
        for phase in dict.fromkeys(phases.tolist()):
            place, mine = tree_paths.root_of(known_phase(self.lookup.phases[phase])), phases == phase
            if place != Tree.FIT_STEPS:
                times[place] = times.get(place, 0) + int(dur[mine].sum())
                continue
            for begin, ns in zip(edges[of[mine], 0].tolist(), dur[mine].tolist(), strict=True):
                path = self._part_of_step(begin)
                times[path] = times.get(path, 0) + ns
        return times

    def _part_of_step(self, moment: int) -> TreePath:
        """Whether a moment inside the steps is one of callbacks or of input: these are kept as sums of each step."""
        steps = self.training_steps
        index = int(np.searchsorted(steps.begin, moment, "right")) - 1
        if index >= 0 and moment < steps.end[index]:
            return Tree.FIT_CALLBACKS if moment >= steps.end[index] - steps.callbacks[index] else Tree.FIT_STEPS
        following = index + 1
        waits = following < len(steps.begin) and moment >= steps.begin[following] - steps.waited[following]
        return Tree.FIT_INPUT if waits else Tree.FIT_STEPS


def _is_of_training(steps: pa.Table) -> pa.ChunkedArray:
    return pc.equal(steps["loop"].cast(pa.string()), Loop.TRAIN)
