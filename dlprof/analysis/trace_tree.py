"""The tree of a run of foreign traces: the traced time of one process, split by what its devices did.

With GPUs it is their time, as a mean over those that computed; what an idle GPU waited for is told by what the host
did meanwhile. Without one it is the time of the host's threads together. Each moment belongs to one part, the first
that fits:

    kernels      a kernel computes (without a GPU: an operator); then a collective that no kernel hides
    transfer     a copy that no kernel hides
    input        the host waits for its next batch, or makes it
    sync         the host waits for the device or for other threads
    dispatch     the host is in an operator, or in a call of a runtime
    host python  the host is in a Python function that the trace shows
    idle         nothing that the trace shows

GPU time and time of the host are never added: with a kernel of a GPU no operator of the host is in the tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dlprof.analysis import layer_times, trace_events, trace_phases
from dlprof.analysis.columns import Integers, Truths
from dlprof.analysis.layer_times import LayerTime
from dlprof.analysis.shares import proportional
from dlprof.analysis.stretches import Stretches
from dlprof.analysis.trace_events import TraceEvents, Work
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import STEPS_OF_LOOP, Tree, TreePath
from dlprof.schema.vocabulary import Loop, StepPart, known_phase
from dlprof.store.run import Run

_CLAIMS: Mapping[StepPart, tuple[Work, ...]] = {
    StepPart.KERNELS: (Work.COMPUTE, Work.COLLECTIVE),
    StepPart.TRANSFER: (Work.COPY,),
    StepPart.INPUT: (Work.INPUT,),
    StepPart.SYNC: (Work.WAIT,),
    StepPart.DISPATCH: (Work.HOST,),
    StepPart.HOST_PYTHON: (Work.PYTHON,),
}
"""What is claimed by each part, in this order; what is left is idle."""
_BUSY = (StepPart.KERNELS, StepPart.TRANSFER)


@dataclass(frozen=True)
class TraceTree:
    """The leaves of a run of foreign traces.

    Attributes:
        leaves: Path to time (ns); they sum to the traced time of one process.
        steps: Where its steps are, or the whole trace where it names none.
        layers: The kernels of these steps by layer, direction and operator; they sum to the leaves of kernels there.
        unsplit: Why the time is not split; None: it is.
        idle: What the host did while the GPUs were idle, from the first to the last kernel of each: part to time,
            summed over the GPUs (ns); empty without a GPU.
    """

    leaves: Mapping[TreePath, int]
    steps: TreePath
    layers: tuple[LayerTime, ...]
    unsplit: str | None = None
    idle: Mapping[StepPart, int] = field(default_factory=dict)


def of_run(run: Run, wall_ns: int) -> TraceTree:
    """The tree of a run of foreign traces."""
    events = trace_events.of_run(run)
    if events is None:
        return TraceTree({Tree.TRACE: wall_ns}, Tree.TRACE, (), "its files hold no events of operators or kernels")
    within = roots(run)
    leaves: dict[TreePath, int] = {}
    layers: dict[TreePath, tuple[LayerTime, ...]] = {}
    for root, stretches in within.items():
        parts, layers[root] = _split(events, root, stretches)
        leaves.update({path: ns for path, ns in parts.items() if ns})
    steps = next((path for path in STEPS_OF_LOOP.values() if path in within), Tree.TRACE)
    return TraceTree(leaves, steps, layers.get(steps, ()), idle=_idle(events))


def roots(run: Run) -> dict[TreePath, Stretches]:
    """When the process was in steps, and when not; a run whose steps an older dlprof did not keep is one stretch."""
    places = {Loop(loop): path for loop, path in STEPS_OF_LOOP.items()}
    by_phase: dict[TreePath, list[tuple[int, int]]] = {}
    for row in run.rows("phase_intervals"):
        phase = tree_paths.of_phase(known_phase(row["phase"]))
        path = next((place for place in places.values() if place == phase or phase.holds(place)), phase)
        by_phase.setdefault(path, []).append((row["start_ns"], row["start_ns"] + row["dur_ns"]))
    place = trace_phases.main_place(run)
    if not by_phase and place is not None:
        by_phase[Tree.TRACE] = trace_phases.traced(run, place)
    return {path: Stretches.of(intervals) for path, intervals in by_phase.items()}


def _split(events: TraceEvents, root: TreePath, within: Stretches) -> tuple[dict[TreePath, int], tuple[LayerTime, ...]]:
    """The time of a root as leaves below it, and the kernels among them by layer (ns)."""
    sums: Counter[Work | None] = Counter()
    for device in events.devices or (None,):
        sums.update(_times(events.covers(device), within))
    mean = proportional(within.ns, sums)
    layers = [
        LayerTime(*key, ns)
        for work in _CLAIMS[StepPart.KERNELS]
        for key, ns in proportional(mean.get(work, 0), events.weights(work, within)).items()
        if ns
    ]
    parts = {root / StepPart.IDLE: mean.get(None, 0)}
    for part, works in _CLAIMS.items():
        if part is not StepPart.KERNELS:
            parts[root / part] = sum(mean.get(work, 0) for work in works)
    for category, ns in layer_times.by_category(layers).items():
        parts[root / StepPart.KERNELS / category] = ns
    return parts, tuple(layers)


def _idle(events: TraceEvents) -> dict[StepPart, int]:
    sums: Counter[Work | None] = Counter()
    for device in events.devices:
        covers = events.covers(device)
        sums.update(_times(covers, _span(covers)))
    of_part = {part: sum(sums[work] for work in works) for part, works in _CLAIMS.items() if part not in _BUSY}
    return {**of_part, StepPart.IDLE: sums[None]} if events.devices else {}


def _span(covers: Mapping[Work, Stretches]) -> Stretches:
    """From the first to the last event of a device."""
    busy = [covers[work] for part in _BUSY for work in _CLAIMS[part] if len(covers[work].begin)]
    begin, end = min(one.begin[0] for one in busy), max(one.end[-1] for one in busy)
    return Stretches(np.asarray([begin]), np.asarray([end]))


def _times(covers: Mapping[Work, Stretches], within: Stretches) -> dict[Work | None, int]:
    """How long each kind of work goes on in some time while none before it does; None: nothing does (ns)."""
    order = [work for works in _CLAIMS.values() for work in works]
    edges = [within.begin, within.end, *(edge for work in order for edge in (covers[work].begin, covers[work].end))]
    moments = np.unique(np.concatenate(edges))
    lengths = np.diff(moments)
    left = _on(within, moments)
    times: dict[Work | None, int] = {}
    for work in order:
        mine = left & _on(covers[work], moments)
        times[work] = int(lengths[mine].sum())
        left &= ~mine
    times[None] = int(lengths[left].sum())
    return times


def _on(stretches: Stretches, moments: Integers) -> Truths:
    """Whether each stretch between two moments is covered."""
    level = np.zeros(len(moments), np.int64)
    np.add.at(level, np.searchsorted(moments, stretches.begin), 1)
    np.add.at(level, np.searchsorted(moments, stretches.end), -1)
    on: Truths = np.cumsum(level)[:-1] > 0
    return on
