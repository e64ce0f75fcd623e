"""Other programs took cores that the training could have used."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import doubts
from dlprof.analysis.doubts import OTHERS_PCT, STARTS, WAITING
from dlprof.analysis.findings import engine_threads, queries, worker_contention
from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support, thread_variables
from dlprof.analysis.findings.title import Title
from dlprof.schema.manifest import Rank
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground
from dlprof.units import duration

TITLE = Title("Other programs took the cores", "other programs on the machine")
_OF_A_RANK = Title("Other processes took the cores", "other processes on the machine, as other ranks")
_STOP = "Stop the other programs, or give each its own cores (taskset), and measure again."
_APART = (
    "Give each rank its own cores, or fewer threads (OMP_NUM_THREADS); dlprof diagnose of the run of all ranks says "
    "whether it is they (rank-contention)."
)
_LOST = 0.85
"""Of the time that threads wait for a core, by the exam."""
_WORTH_NS = 50_000_000
"""Less is not told of the start: the counters of the main thread are sampled once a second."""
_USE = Query(
    "use of the machine, all cores together, in % of one core",
    "SELECT time_ns, cpu_pct, others_cpu_pct FROM machine ORDER BY time_ns",
)


def look(case: Case) -> Iterator[Claim]:
    """Threads that could run waited for a core while other programs were busy."""
    seen = case.machine.scheduling
    if seen.others_pct < OTHERS_PCT or seen.waiting < WAITING:
        return
    # Where threads share each operation evenly, all of them wait for the one that has no core.
    in_step = engine_threads.in_a_step(case)
    # No more is lost than all threads waited together: a process that hardly runs hardly waits, whatever the share.
    most = seen.wait_ns / max(1, sum(case.own(top) for top in WORK))
    started_ns = _started_later(case)
    is_rank = _has_others(case.run.manifest.rank)
    left = _left(case, seen.others_pct)
    others = "Other processes, maybe ranks of this training," if is_rank else "Other programs"
    yield Claim(
        Sentence(
            f"{others} used {seen.others_pct:.0f} % of a core while training, and its threads spent "
            f"{100 * seen.waiting:.0f} % of their runnable time without one{_and_before(case, started_ns)}:"
        ),
        {
            **_takes(case, min(0.95, most, (1.0 if case.pair else _LOST) * seen.waiting * in_step)),
            **case.filled(started_ns, *STARTS),
        },
        [queries.scheduled(), _USE],
        _APART if is_rank else _leave(left) if left else _STOP,
        remedy=Remedy(f"{left} thread{'s' * (left > 1)}", thread_variables(left), {"threads": left}) if left else None,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
        title=_OF_A_RANK if is_rank else None,
    )


def _takes(case: Case, share: float) -> dict[TreePath, int]:
    """A share of the work, but of steps what workers of the training's own loader have (ns)."""
    of_others = 1 - worker_contention.of_workers(case)
    whole = case.takes(*WORK, share=share)
    if case.other is not None:
        # A share of the work, not of the difference: what ran without a core for two thirds took three times as long.
        less = _waiting(case.other)
        wanted = {leaf: share * case.own(leaf) - less * case.other.own(leaf) for leaf in whole}
        whole = {leaf: int(min(max(0.0, ns), case.time(leaf))) for leaf, ns in wanted.items()}
    return {leaf: int(ns * of_others) if Tree.FIT_STEPS.holds(leaf) else ns for leaf, ns in whole.items()}


def _waiting(case: Case) -> float:
    """Share of the runnable time that threads of the other run of a pair had no core; 0: not known."""
    try:
        return case.machine.scheduling.waiting
    except Abstain:
        return 0.0


def _started_later(case: Case) -> int:
    """What the main thread waited more for a core than the other run's while the process started and ended (ns)."""
    more = doubts.start_difference(case.run, case.other.run) if case.other is not None else None
    return max(0, more.wait_ns) if more is not None else 0


def _and_before(case: Case, started_ns: int) -> str:
    if case.against is None or started_ns < _WORTH_NS:
        return ""
    more = f"{duration(started_ns)} more than {case.against.b.label}'s"
    return f", its main thread {more} while the process started and ended"


def _left(case: Case, others_pct: float) -> int | None:
    """The cores that others leave, where the engine has more threads and each operation waits for all of them."""
    left = max(1, int(case.machine.usable_cores - others_pct / 100))
    return left if engine_threads.waiting_for_each_other(case) > left else None


def _leave(left: int) -> str:
    """What to do where fewer threads lose less; first what needs nobody else."""
    return (
        f"Use no more threads than the others leave cores (OMP_NUM_THREADS={left}), for each operation waits for its "
        "thread that has none; or stop the other programs, and measure again."
    )


def _has_others(rank: Rank | None) -> bool:
    """Whether it is one of several ranks: how many are on this machine is not always told."""
    return rank is not None and rank.world != 1
