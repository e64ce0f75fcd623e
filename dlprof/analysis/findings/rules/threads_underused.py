"""The engine computes with fewer threads than there are cores, or may use fewer cores than there are.

Two that the system tells as two, and the processor has once (SMT), count as one: products of matrices fill a core
with one thread. Cores beyond the quota of the control group are none either.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import engine_threads, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support, thread_variables
from dlprof.analysis.findings.rules.threads_oversubscribed import CALLS
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart
from dlprof.units import duration

TITLE = Title("The engine left cores unused", "cores that the engine left unused")
_GAIN = 0.8
"""Share of the ideal gain that more threads bring: MXNet's CNN went from 155 to 98 ms with 2 threads for 1."""
_ROOM = 0.35
"""Cores beyond its threads that the process may have used, by helper threads, before the limit is none."""
_FREE = 0.25
"""Cores that must have stood idle."""
_WORTH = 0.25
"""Less kernel time than this share of the steps is not worth more threads."""
_LONG_NS = 1_000_000
"""Kernels that are shorter gain nothing: on two cores MXNet's products of 0.8 to 1.3 ms took half of their time with
2 threads for 1, those of 0.5 ms as long as before, and those of 20 µs ten times as long: each waits for all threads."""
_MOSTLY = 0.5
"""Share of the kernels' time that must be in long ones: short ones lose, by waiting, what long ones gain. Of an MLP
with 0.4 of it in long ones a training of 6.7 s took 7.5 s with two threads."""
_MORE = "Set OMP_NUM_THREADS={cores}, or the engine's own number of threads, to the number of cores."
_UNBIND = (
    "Let the process use all cores: start it without taskset, numactl or the binding of its launcher, or widen its "
    "affinity (os.sched_setaffinity) behind the import that narrowed it. A container or a batch system that gave it "
    "these cores allows no more: ask that for them."
)
_MAYBE_MEANT = 0.7
"""Whoever binds a process may have a reason: it is a question."""
_BINDING = ("sched_setaffinity(", "cpu_affinity(")
_CORES = Query("cores over the run", "SELECT core, avg(busy_pct) AS busy_pct FROM cores GROUP BY core ORDER BY core")

_LENGTHS = Query(
    "kernels by operator and length",
    f"SELECT op, dur_ns >= {_LONG_NS} AS long, count(*) AS count, sum(dur_ns - nested_ns) AS own_ns FROM kernels "
    "WHERE device = 'cpu' AND op IS NOT NULL GROUP BY ALL ORDER BY own_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """A limit on threads below the number of cores, cores that stood idle, and kernels that could use them."""
    told, usable = engine_threads.count(case), case.machine.usable_cores
    is_bound = told >= usable  # its affinity is what limits it
    cores = case.machine.computing_cores if is_bound else min(case.machine.computing_cores, usable)
    used = min(told, usable)
    if used >= cores or _is_as_the_other(case, used, cores):
        return
    if case.steps is None or case.tree.unsplit is not None:
        raise Abstain("no kernel window tells how much of a step could be computed by more threads")
    busy = case.machine.scheduling.tree_pct / 100
    free = case.machine.free_cores(cores)
    kernels = case.steps / StepPart.KERNELS
    if busy > used + _ROOM or free < _FREE or case.own(kernels) < _WORTH * max(1, case.own(case.steps)):
        return
    in_long = case.kernels.share_of_long(_LONG_NS)
    if in_long is None:
        raise Abstain("how long kernels of the host take was not traced")
    if in_long < _MOSTLY:
        raise Abstain(
            f"only {100 * in_long:.0f} % of the kernels' time is in such as take {duration(_LONG_NS)} or more: shorter "
            "ones lose by waiting for other threads what they gain"
        )
    limit = f"with {used} thread{'s' * (used > 1)} on {cores} cores,"
    if is_bound:
        limit = f"on {used} of {cores} cores, because its process is bound to no more,"
    line = case.code.line_with(*(_BINDING if is_bound else CALLS))
    # Where somebody set so few, that is seen; an engine may have chosen what is best for its kernels.
    is_set = line is not None or not thread_variables(cores).keys().isdisjoint(case.run.manifest.environment)
    agree = _MAYBE_MEANT if is_bound else 1.0 if is_set else in_long
    yield Claim(
        Sentence(
            f"The engine computes {limit} {busy:.1f} of which were busy while training, "
            f"and {100 * in_long:.0f} % of the kernels' time is in such as are long enough to be shared:"
        ),
        case.takes(kernels, Tree.FIT_VALIDATION, Tree.EVALUATE, share=(1 - used / cores) * _GAIN * in_long),
        [_CORES, _LENGTHS, queries.training_told("training.threads")],
        _UNBIND if is_bound else _MORE.format(cores=cores),
        line,
        # A trial is started as dlprof is: it would be bound as the run was, or not at all.
        None if is_bound else Remedy(f"{cores} threads", thread_variables(cores), {"threads": cores}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=agree),
    )


def _is_as_the_other(case: Case, used: int, cores: int) -> bool:
    """Whether the other run of a pair had as many threads and cores: that is not why they differ."""
    if case.other is None:
        return False
    try:
        told, machine = engine_threads.count(case.other), case.other.machine
    except Abstain:
        return False
    return min(told, machine.usable_cores) == used and min(machine.computing_cores, machine.usable_cores) == cores
