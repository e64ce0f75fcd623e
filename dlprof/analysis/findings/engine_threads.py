"""With how many threads the engine of a run computes."""

from __future__ import annotations

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain


def count(case: Case) -> int:
    """The largest number of threads that a loaded engine was told, or decided, to use.

    Raises:
        Abstain: It is not known.
    """
    if case.training is None or not case.training.threads:
        raise Abstain("the engine's number of threads is not known")
    known = [n for name, n in case.training.threads.items() if name != "usable_cores" and n > 0]
    if not known:
        raise Abstain("this engine does not tell its number of threads")
    return max(known)


def waiting_for_each_other(case: Case) -> int:
    """Threads of the engine that share each operation evenly, so that all wait for the slowest; 1: none is known to."""
    if not case.engine.threads_in_step:
        return 1
    try:
        return count(case)
    except Abstain:
        return 1


def in_a_step(case: Case) -> int:
    """The same, as far as there are cores for them."""
    return min(waiting_for_each_other(case), case.machine.usable_cores)
