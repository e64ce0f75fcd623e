"""More computing threads than cores, or than the quota of their control group: they take the cores from each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence, Support, thread_variables
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
LOST_BEYOND = 0.4
"""Of the time, where a quota holds them: by measurement of PyTorch, with two threads for a quota of one core or half a
core, 0.35 to 0.42. Threads that wait for each other compute on in vain, and that counts, too."""
CALLS = ("set_num_threads(", "op_parallelism_threads(", "NUM_THREADS")
"""What a line of the script has that sets it."""


def look(case: Case) -> Iterator[Claim]:
    """The engine has more threads than there are cores, and they wait for each other."""
    count, cores = threads(case), case.machine.usable_cores
    if count <= cores:
        return
    seen, beyond = case.machine.scheduling, is_beyond(case)
    if seen.others_pct > _OTHERS_PCT or seen.waiting < _WAITING:
        return
    yield Claim(
        Sentence(
            f"{count} computing threads share {_shared(case, cores)}: threads spent "
            f"{100 * seen.waiting:.0f} % of their runnable time waiting for a core,"
        ),
        case.takes(
            Tree.FIT_STEPS,
            Tree.EVALUATE,
            Tree.PREDICT,
            Tree.FIT_VALIDATION,
            share=LOST_BEYOND if beyond else seen.waiting * _LOST,
        ),
        [queries.scheduled(), queries.training_told("training.threads")],
        f"Set OMP_NUM_THREADS={cores}, or the engine's own number of threads, to the number of cores.",
        case.code.line_with(*CALLS),
        Remedy(f"{cores} threads", thread_variables(cores), {"threads": cores}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
    )


def is_beyond(case: Case) -> bool:
    """Whether there are more threads than cores that the quota of the control group allows."""
    quota = case.run.manifest.machine.quota_cores
    try:
        return quota is not None and math.ceil(quota) < threads(case)
    except Abstain:
        return False


def _shared(case: Case, cores: int) -> str:
    quota = case.run.manifest.machine.quota_cores
    if quota is None or not is_beyond(case):
        return f"{cores} core{'s' * (cores > 1)}"
    return f"{quota:g} core{'s' * (quota != 1)} of {case.machine.cores}, all that their control group may use"


def threads(case: Case) -> int:
    """The largest number of threads that a loaded engine was told, or decided, to use."""
    if case.training is None or not case.training.threads:
        raise Abstain("the engine's number of threads is not known")
    known = [n for name, n in case.training.threads.items() if name != "usable_cores" and n > 0]
    if not known:
        raise Abstain("this engine does not tell its number of threads")
    return max(known)
