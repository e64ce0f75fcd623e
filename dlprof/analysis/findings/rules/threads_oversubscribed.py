"""More computing threads than cores, or than the quota of their control group: they take the cores from each other."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import engine_threads, queries, quota
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Remedy, Sentence, Support, thread_variables
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("More computing threads than cores", "threads that waited for each other's cores")
_WAITING = 0.15
"""Share of the runnable time that threads must have spent waiting for a core."""
_LOST = 0.55
"""Of the time that threads wait for a core another one of the same training mostly works: about half is lost."""
_OTHERS_PCT = 50.0
"""With other programs this busy it cannot be told who took the cores."""
_LOST_BEYOND = 0.4
"""At most so much of the time where a quota holds threads that wait for each other by computing on, which counts, too:
by measurement of PyTorch, with two threads for a quota of one core or half a core, 0.35 to 0.42."""
CALLS = ("set_num_threads(", "op_parallelism_threads(", "NUM_THREADS")
"""What a line of the script has that sets it."""


def look(case: Case) -> Iterator[Claim]:
    """The engine has more threads than there are cores, and they wait for each other."""
    share = lost(case)
    if not share:
        return
    count, cores, allowed = engine_threads.count(case), case.machine.usable_cores, quota.allows(case)
    shared = f"{cores} core{'s' * (cores > 1)}"
    if allowed is not None:
        shared = f"{allowed:g} core{'s' * (allowed != 1)} of {case.machine.cores}, all that their control group may use"
    yield Claim(
        Sentence(
            f"{count} computing threads share {shared}: threads spent {100 * case.machine.scheduling.waiting:.0f} % of "
            "their runnable time waiting for a core,"
        ),
        case.takes(Tree.FIT_STEPS, Tree.EVALUATE, Tree.PREDICT, Tree.FIT_VALIDATION, share=share),
        [queries.scheduled(), queries.training_told("training.threads")],
        f"Set OMP_NUM_THREADS={cores}, or the engine's own number of threads, to the number of cores.",
        case.code.line_with(*CALLS),
        Remedy(f"{cores} threads", thread_variables(cores), {"threads": cores}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
    )


def lost(case: Case) -> float:
    """Share of the time that is lost by threads that wait for each other's cores; 0: none.

    Raises:
        Abstain: Something that it needs is not known.
    """
    if engine_threads.count(case) <= case.machine.usable_cores:
        return 0.0
    seen = case.machine.scheduling
    if seen.others_pct > _OTHERS_PCT or seen.waiting < _WAITING:
        return 0.0
    if quota.allows(case) is None:
        return seen.waiting * _LOST
    # Time in which a quota holds all of them is no time that one has from another: but for engines whose threads wait
    # for each other by computing on, fewer threads would be held back as long.
    return min(_LOST_BEYOND, quota.held_back(case)) if case.engine.threads_in_step else 0.0
