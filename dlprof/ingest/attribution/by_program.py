"""Attribution of what XLA compiled: by the path of each instruction; the executions of a program tell the steps."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.attribution.base import Attribution
from dlprof.ingest.attribution.by_path import ByPath
from dlprof.ingest.kernels.events import NONE, Events, Integers
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.kernels.numbered import Numbered
from dlprof.ingest.kernels.scopes import HloInstruction, Scope
from dlprof.schema.vocabulary import EventKind


class _ByProgram(ByPath):
    def steps(self, events: Events, steps: Intervals) -> Integers | None:
        """Each execution of the program with most time is a step, in order: the engine runs behind the host.

        None where executions and steps do not match in number.
        """
        rows = np.flatnonzero((events.kind == EventKind.OPERATOR) & (events.link != NONE) & (events.scope != NONE))
        if not len(rows):
            return None
        program = self._programs()[events.scope[rows]]
        main = int(np.argmax(np.bincount(program, weights=events.dur[rows])))
        rows = rows[program == main]
        runs, inverse = np.unique(events.link[rows], return_inverse=True)
        if len(runs) != len(steps):
            return None
        begin = np.full(len(runs), np.iinfo(np.int64).max)
        np.minimum.at(begin, inverse, events.start[rows])
        number = np.empty(len(runs), np.int64)
        number[np.argsort(begin, kind="stable")] = np.asarray(steps.values, np.int64)
        step = np.full(len(events), NONE, np.int64)
        step[rows] = number[inverse]
        return step

    def _programs(self) -> Integers:
        """The number of the program of each scope."""
        known: Numbered[tuple[str, int] | None] = Numbered()
        return np.asarray([known.number(_program(scope)) for scope in self.trace.scopes.values], np.int64)


def _program(scope: Scope) -> tuple[str, int] | None:
    return (scope.module, scope.program) if isinstance(scope, HloInstruction) else None


ATTRIBUTION = Attribution("program", _ByProgram)
