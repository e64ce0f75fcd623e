"""Attribution of what XLA compiled: executions of the program are steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlprof.ingest.attribution import by_program
from dlprof.ingest.attribution.labels import Model
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.kernels.scopes import HloInstruction
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import EventKind


def executed(*rows: tuple[str, int, int, int]) -> Trace:
    """Instructions of programs: (program, number of the execution, start, duration)."""
    trace = Trace(Path("x.pb"), "xspace", "xla", "program")
    lane = trace.lane(0, Lane(0, 0, "tf_XLAEigen"))
    trace.add_rows([
        EventRow(EventKind.OPERATOR, trace.names.number("dot"), start, dur, lane, link=run,
                 scope=trace.scopes.number(HloInstruction("dot", program, 1, "")))
        for program, run, start, dur in rows
    ])  # fmt: skip
    return trace


def steps_of(trace: Trace, *values: int) -> list[int] | None:
    """The step of each event, in a run with steps of these numbers."""
    steps = Intervals(np.arange(len(values)) * 10, np.arange(len(values)) * 10 + 10, values)
    found = by_program.ATTRIBUTION.begin(trace, Model()).steps(trace.events.take(), steps)
    return None if found is None else found.tolist()


def test_executions_of_the_program_with_most_time_are_the_steps_in_order() -> None:
    """Though they ran after the steps had returned; other programs are of no step."""
    trace = executed(
        ("jit_step", 8, 500, 40), ("jit_small", 3, 510, 5), ("jit_step", 7, 400, 40), ("jit_step", 7, 450, 5)
    )

    assert steps_of(trace, 21, 22) == [22, -1, 21, 21]


@pytest.mark.parametrize("values", [(21,), (21, 22, 23)])
def test_where_steps_and_executions_differ_in_number_nothing_is_told(values: tuple[int, ...]) -> None:
    """It is left to the times then."""
    assert steps_of(executed(("jit_step", 8, 500, 40), ("jit_step", 7, 400, 40)), *values) is None
