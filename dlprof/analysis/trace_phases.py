"""Rows of the tables `steps`, `epochs`, `phases` and `phase_intervals` of a run of foreign traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dlprof.analysis import trace_processes
from dlprof.analysis.phase_spans import PhaseInterval
from dlprof.analysis.trace_processes import Process
from dlprof.analysis.trace_steps import Place, Structure, TraceStep
from dlprof.schema.vocabulary import PHASE_OF_LOOP, Loop, Phase
from dlprof.store.run import Run

Rows = list[dict[str, Any]]
Interval = tuple[int, int]


def rows(run: Run, found: Structure | None) -> dict[str, Rows]:
    """The rows of each table; none where no event tells how long the run was.

    Args:
        run: The run, with its events and kernel windows.
        found: Its steps; None: it names none.
    """
    place = found.place if found is not None else main_place(run)
    if place is None:
        return {}
    intervals = list(_intervals(traced(run, place), found.steps if found is not None else None))
    whose = {"host": place.host, "rank": place.rank, "pid": place.pid}
    tables = {
        "phases": _phases(intervals, found.steps if found is not None else ()),
        "phase_intervals": [interval_row(interval) for interval in intervals],
        "steps": [_step(step) for step in found.steps] if found is not None else [],
        "epochs": _epochs(found) if found is not None else [],
    }
    return {name: [{**whose, **row} for row in content] for name, content in tables.items()}


def main_place(run: Run) -> Place | None:
    """The process that a run is told of; None: no process left events.

    The one of lowest rank, and of several of that the one whose phases are told, else whose operators took longest.
    """
    windows = [row for row in run.rows("kernel_windows") if row["dur_ns"]]
    if not windows:
        return None
    first = min(windows, key=lambda row: (row["rank"], row["window"]))
    here = [row for row in windows if (row["rank"], row["host"]) == (first["rank"], first["host"])]
    if len({_process(row) for row in here}) > 1:
        told = {_process(row) for row in run.rows("phases")}
        busy = trace_processes.operator_times(run)
        first = max(here, key=lambda row: (_process(row) in told, busy.get(_process(row), 0), -row["window"]))
    return Place(first["rank"], first["host"], first["pid"], first["window"])


def _process(row: Mapping[str, Any]) -> Process:
    return row["host"], row["rank"], row["pid"]


def traced(run: Run, place: Place) -> list[Interval]:
    """When a process was traced: begin and end of disjoint stretches, in order (ns)."""
    windows = (row for row in run.rows("kernel_windows") if _process(row) == (place.host, place.rank, place.pid))
    done: list[Interval] = []
    for begin, end in sorted((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in windows if row["dur_ns"]):
        if done and begin <= done[-1][1]:
            done[-1] = (done[-1][0], max(end, done[-1][1]))
        else:
            done.append((begin, end))
    return done


def interval_row(interval: PhaseInterval) -> dict[str, Any]:
    """A row of `phase_intervals`."""
    return {"phase": interval.phase, "start_ns": interval.start_ns, "dur_ns": interval.dur_ns}


def _intervals(stretches: Sequence[Interval], steps: Sequence[TraceStep] | None) -> Iterator[PhaseInterval]:
    """Leaf phases in order; steps that follow on one another are one stretch."""
    for begin, end in stretches:
        at = begin
        for phase, low, high in _joined(steps or (), begin, end):
            if low > at:
                yield PhaseInterval(Phase.OUTSIDE_STEPS, at, low - at)
            yield PhaseInterval(phase, low, high - low)
            at = high
        if end > at:
            yield PhaseInterval(Phase.TRACE if steps is None else Phase.OUTSIDE_STEPS, at, end - at)


def _joined(steps: Sequence[TraceStep], begin: int, end: int) -> list[tuple[Phase, int, int]]:
    """Phase, begin and end of the steps inside a stretch."""
    done: list[tuple[Phase, int, int]] = []
    for step in steps:
        phase, low, high = PHASE_OF_LOOP[step.loop], max(begin, step.begin), min(end, step.end)
        if high <= low:
            continue
        if done and done[-1][0] is phase and done[-1][2] == low:
            low = done.pop()[1]
        done.append((phase, low, high))
    return done


def _phases(intervals: Sequence[PhaseInterval], steps: Sequence[TraceStep]) -> Rows:
    times: Counter[Phase] = Counter()
    entries: Counter[Phase] = Counter()
    for phase, _start, dur in intervals:
        times[phase] += dur
        entries[phase] += 1
    entries.update({phase: count - entries[phase] for phase, count in _counts(steps).items()})
    leaves = [
        {"phase": phase, "parent": phase.parent, "dur_ns": times[phase], "count": entries[phase]}
        for phase in Phase
        if times[phase]
    ]
    parents = {phase.parent for phase in times if phase.parent is not None}
    tops = [
        {
            "phase": parent,
            "parent": None,
            "dur_ns": sum(ns for phase, ns in times.items() if phase.parent is parent),
            "count": sum(1 for phase, *_ in intervals if phase.parent is parent),
        }
        for parent in parents
    ]
    return [*tops, *leaves]


def _counts(steps: Sequence[TraceStep]) -> Counter[Phase]:
    return Counter(PHASE_OF_LOOP[step.loop] for step in steps)


def _step(step: TraceStep) -> dict[str, Any]:
    waited = step.input_ns or 0
    return {
        "thread_id": 0,
        "loop": step.loop,
        "loop_id": list(Loop).index(step.loop),
        "step": step.number,
        "count": 1,
        "start_ns": step.begin + waited,
        "dur_ns": step.end - step.begin - waited,
        "input_ns": step.input_ns,
        "compiled": False,
        "first": False,
    }


def _epochs(found: Structure) -> Rows:
    """Epochs count from 0 in the tables; a trace may count from 1."""
    first = min((epoch.number for epoch in found.epochs), default=0)
    return [
        {
            "loop_id": list(Loop).index(Loop.TRAIN),
            "epoch": epoch.number - (first > 0),
            "start_ns": epoch.begin,
            "dur_ns": epoch.end - epoch.begin,
            "steps": sum(epoch.begin <= step.begin < epoch.end for step in found.steps),
        }
        for epoch in found.epochs
    ]
