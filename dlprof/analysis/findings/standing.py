"""For how much of some phases the main thread stood still: neither on a core nor waiting for one.

Sampled stacks show where a thread is, not whether it does anything there. The kernel's counters of its time on a core
and of its time in the queue for one tell that, once a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Integers, integers
from dlprof.analysis.findings.case import Case
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import StepPart, known_phase

_INSIDE = 0.8
"""Share of the time between two samples of the counters that must be of the phases, for it to speak of them."""
_COVERED = 0.5
"""Share of the phases that such stretches must cover, to speak of all."""
_MOST = 0.5
"""Share of short phases for which it must have stood in any case."""

QUIET_STEPS = tuple(Tree.FIT_STEPS / part for part in (StepPart.HOST_PYTHON, StepPart.IDLE, StepPart.DISPATCH))
"""Parts of the steps of training in which no operator runs, those first that are Python's."""


@dataclass(frozen=True)
class Standing:
    """The main thread in some phases.

    Attributes:
        share: Of the time, without a core and without wanting one, and without work for one in other threads of the
            process, which it may wait for: 0 to 1. Of short phases, at least.
        ran: Of the time, on a core or wanting one: 0 to 1. Of short phases, at most.
        others: Cores that other processes of the program used meanwhile, on average.
    """

    share: float
    ran: float
    others: float


def of_phases(case: Case, paths: Sequence[TreePath]) -> Standing | None:
    """How the main thread stood in some phases; None: too little was measured there.

    Args:
        case: The run.
        paths: The phases.
    """
    columns = ("main_run_ns", "main_wait_ns", "run_ns", "wait_ns")
    rows = case.machine.process_samples(*columns, around_ns=case.tree.wall_ns)
    time = integers(rows["time_ns"])
    length = np.diff(time)
    wanted = np.diff(integers(rows["main_run_ns"])) + np.diff(integers(rows["main_wait_ns"]))
    whole = np.diff(integers(rows["run_ns"])) + np.diff(integers(rows["wait_ns"]))
    # A thread that ends takes its part of the sums with it: what it did before is not known then.
    shared, is_known = time_in(case, paths, time), whole >= wanted
    inside = (shared >= _INSIDE * length) & is_known
    covered = int(length[inside].sum())
    beside = np.minimum(np.maximum(0, whole - wanted), np.maximum(0, length - wanted))
    least = _COVERED * sum(case.own(path) for path in paths)
    if not covered or covered < least:
        return _at_least(case, time, np.where(is_known, shared, 0), wanted + beside, least)
    share = 1 - float((wanted + beside)[inside].sum()) / covered
    begins, ends = time[:-1][inside], time[1:][inside]
    ran = float(wanted[inside].sum()) / covered
    return Standing(min(1.0, max(0.0, share)), min(1.0, ran), case.machine.children_cores(begins, ends))


def _at_least(case: Case, time: Integers, shared: Integers, busy: Integers, least: float) -> Standing | None:
    """For how much of short phases it stood in any case: all that it did between two samples was done in them.

    None where that is not most of them: then it is not known.

    Args:
        case: The run.
        time: When the counters were sampled (ns).
        shared: How much of the time between each two is of the phases (ns); 0 where the counters do not tell.
        busy: For how long the process worked or wanted to between them (ns).
        least: So much of the phases must be between samples (ns).
    """
    some = shared > 0
    covered = int(shared.sum())
    if not covered or covered < least:
        return None
    share = float(np.maximum(0, shared - busy).sum()) / covered
    if share < _MOST:
        return None
    return Standing(share, 1 - share, case.machine.children_cores(time[:-1][some], time[1:][some]))


@dataclass(frozen=True)
class OutsideOperators:
    """The main thread in the steps of training, while no operator runs that it could wait for.

    Attributes:
        stood: Share of the steps in which it neither had nor wanted a core then, at least: 0 to 1.
        ran: Share of the steps in which it had or wanted one then, at most: 0 to 1.
        lasts: Share of the steps in which no operator runs: 0 to 1. Who waits for longer, waits for operators.
    """

    stood: float
    ran: float
    lasts: float


def outside_operators(case: Case) -> OutsideOperators | None:
    """What the thread does while no operator runs; None: no kernel was traced, or too little was measured.

    Threads of the engine may go on burning a core when an operator is over, waiting for the next one: that the process
    is busy does not say that its main thread waits for work.
    """
    stood = of_phases(case, (Tree.FIT_STEPS,))
    whole = case.own(Tree.FIT_STEPS)
    if stood is None or case.tree.unsplit is not None or not whole:
        return None
    # What a device computes no thread of the host does.
    kernels = case.own(Tree.FIT_STEPS / StepPart.KERNELS) / whole
    computing = 0 if case.kernels.has_gpu else kernels
    quiet = sum(case.own(path) for path in QUIET_STEPS) / whole
    ran = max(0.0, stood.ran - computing * case.kernels.on_main_thread)
    return OutsideOperators(max(0.0, quiet - ran), ran, 1 - kernels)


def time_in(case: Case, paths: Sequence[TreePath], time: Integers) -> Integers:
    """How much of the time between each two samples lies in the phases (ns)."""
    lookup = case.phases.lookup
    wanted = pa.array(
        [any(path.holds(tree_paths.root_of(known_phase(phase))) for path in paths) for phase in lookup.phases],
        pa.bool_(),
    )
    of, phase, dur = lookup.shares(time[:-1], time[1:])
    mine = np.asarray(wanted.to_numpy(zero_copy_only=False), bool)[phase]
    return np.bincount(of[mine], weights=dur[mine], minlength=max(0, len(time) - 1)).astype(np.int64)
