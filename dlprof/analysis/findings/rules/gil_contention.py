"""Threads of the program took turns at Python's interpreter: one at a time has its lock, the training waits meanwhile.

Where a thread runs Python without end, the one that trains gets the interpreter back only when the other is made to
hand it over, every 5 ms, each time that it comes back from an operator. So the steps take many times as long.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import interpreter_waits, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, Phase

TITLE = Title("Threads took turns at Python's interpreter", "threads that take turns at Python's interpreter")
_PATHS = (Tree.FIT_STEPS,)
_LEAST = 0.1
"""Share of the steps for which the training must wait."""
_USUAL = 0.05
_COUNTERS = Query(
    "time on a core, and waiting for one: the thread of the steps, and all threads of the process",
    "SELECT time_ns, main_run_ns, main_wait_ns, run_ns, wait_ns FROM process_samples WHERE main_run_ns IS NOT NULL "
    "ORDER BY time_ns",
)
_ADVICE = (
    "Only one thread of a process runs Python at a time: have that work done by a process of its own "
    "(multiprocessing.Process, ProcessPoolExecutor, workers of the data loader), or by calls that let others run "
    "meanwhile (NumPy on whole arrays, native code), or before and after the training."
)


_APART = "multiprocessing.Process(target=…)"
_LOOKS = (
    "Let the thread that looks whether the training is over wait for that: queue.get() with a timeout in place of "
    "get_nowait(), Event.wait(), Thread.join(); or time.sleep() between two looks. Only one thread of a process runs "
    "Python at a time: what else it does belongs into a process of its own."
)


@of_the_slower
def look(case: Case) -> Iterator[Claim]:
    """The thread of the steps neither runs nor wants a core, while others stand in Python and have one."""
    case.code.need_samples()
    found = interpreter_waits.contention(case)
    lost = min(1.0, found.share + found.queued) if found is not None else 0.0
    if found is None or lost < _LEAST:
        return
    whose = "the main thread" if found.is_main else "other threads of the program"
    yield Claim(
        Sentence(
            f"The thread that trains could not go on for {100 * lost:.0f} % of its steps: {_how(found)}, while {whose} "
            f"ran Python ({100 * found.beside:.0f} % of the samples):"
        ),
        case.takes(*_PATHS, share=lost),
        [_COUNTERS, queries.python_stood(Phase.FIT_STEPS)],
        _LOOKS if found.is_main else _ADVICE,
        found.line,
        basis=Basis.ESTIMATED,
        support=Support(
            Ground.REPEATED if found.is_traced else Ground.PLACE, part=lost, usual=_USUAL, agree=found.beside
        ),
        fix="queue.get(timeout=0.1), or time.sleep(0.1) in each turn" if found.is_main else _APART,
    )


def _how(found: interpreter_waits.Contention) -> str:
    if found.queued < _USUAL:
        return "it had no core and wanted none"
    return "it wanted a core and had none" if found.share < _USUAL else "it had no core, whether or not it wanted one"
