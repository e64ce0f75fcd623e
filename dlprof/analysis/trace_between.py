"""Which ranges that the user named the host of a foreign trace was in while it was in no operator.

Told of traces without a device, and of the thread that runs most operators: the time that its tree calls `idle` and
`host_python`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dlprof.analysis import own_stretches, trace_events, trace_phases
from dlprof.analysis.stretches import Stretches
from dlprof.analysis.trace_events import TraceEvents, Work
from dlprof.schema import trace_marks
from dlprof.schema.vocabulary import EventKind
from dlprof.store.run import Run

_OF_OPTIMISER = re.compile(r"Optimizer\.\w+#")
"""Ranges that torch names itself."""


@dataclass(frozen=True)
class Between:
    """What went on while no operator ran.

    Attributes:
        ns: How long that is (ns).
        ranges: Ranges that the user named, without those in them, to their time (ns); the longest first.
    """

    ns: int
    ranges: Mapping[str, int]


def of_run(run: Run) -> Between | None:
    """What went on while no operator ran.

    Args:
        run: The run.

    Returns:
        None: a device was traced, or there are no events.
    """
    events, place = trace_events.of_run(run), trace_phases.main_place(run)
    if events is None or place is None or events.devices:
        return None
    free = _free(events, Stretches.of(trace_phases.traced(run, place)))
    if not free.ns:
        return None
    names = {op["op_id"]: op["name"] or "" for op in run.rows("kernel_ops")}
    return Between(free.ns, _ranges(events, free, names))


def _free(events: TraceEvents, within: Stretches) -> Stretches:
    """When nothing goes on but functions of Python, as far as they are told (which are no operators)."""
    covers = events.covers(None)
    busy = [covers[work] for work in Work if work is not Work.PYTHON]
    begin, end = (np.concatenate([getattr(one, name) for one in busy]) for name in ("begin", "end"))
    taken = Stretches.covered(begin, end)
    return Stretches.of([part for low, high in within.times for part in taken.outside(low, high).times])


def _ranges(events: TraceEvents, free: Stretches, names: Mapping[int, str]) -> dict[str, int]:
    """Ranges that nothing but the user gave a name: steps, epochs and the profiler's own are none of these."""
    rows = events.of_main_thread(EventKind.ANNOTATION)
    said = np.asarray([_is_users(names[op]) for op in rows.op.tolist()], bool)
    begin, end, which = own_stretches.of_events(rows.lane[said], rows.start[said], rows.end[said])
    ns = free.lengths_within(begin, end)
    sums: dict[str, int] = {}
    for op, time in zip(rows.op[said][which].tolist(), ns.tolist(), strict=True):
        sums[names[op]] = sums.get(names[op], 0) + int(time)
    return dict(sorted(((name, time) for name, time in sums.items() if time), key=lambda one: -one[1]))


def _is_users(name: str) -> bool:
    return not (trace_marks.of_name(name) or trace_marks.is_of_profiler(name) or _OF_OPTIMISER.match(name))
