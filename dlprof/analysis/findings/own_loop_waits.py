"""Waits in the steps of loops that the script wrote itself: its thread stands still, and the engine has nothing to do.

A process that is started and waited for, a pause, a lock, an answer from the network: no operator runs, and no Python
either. The kernel's counters tell that the thread stands; its stacks tell where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlprof import units
from dlprof.analysis import loops
from dlprof.analysis.findings import chores, doing, handed_over, interpreter_waits, own_processes, queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.standing import Standing
from dlprof.analysis.findings.title import Title
from dlprof.analysis.processes import TopLine
from dlprof.analysis.samples import Sample
from dlprof.engines import combined
from dlprof.schema.tree_paths import EDGES, Tree, TreePath
from dlprof.schema.vocabulary import Ground, Phase, StepPart

_TITLE = Title("The script's own loop stood waiting", "waiting in the script's own loop")
_SHARE_OF_LOOP = 0.15
_USUAL = 0.05
"""Share of the steps for which the thread of a loop stands that only computes."""
_FOR_OTHERS = 0.5
"""Of the time that it stands: so much is for other threads that run Python, so that it waits for these."""
_PATHS = (Tree.FIT_STEPS,)
_STANDS_IN = (StepPart.HOST_PYTHON, StepPart.IDLE, StepPart.SYNC, StepPart.DISPATCH, EDGES, StepPart.INPUT)
"""Parts of a step in which its thread may stand, those first in which nothing else was seen."""
_ADVICE = {
    doing.FOR_A_PROCESS: "Start no process in the loop: ask the system itself (a file of /proc, psutil), keep one "
    "process and talk to it, or do it less often: once an epoch, or every so many steps.",
    "on the network": "Collect what is to be sent and send it once an epoch, or from a thread of its own that takes it "
    "from a queue; keep one connection open.",
    "waiting for a thread": "See who holds the lock or fills the queue, and what that thread does meanwhile: prepare "
    "more batches ahead, and hold no lock while it sleeps or works.",
}
SENDS = (
    "What stays the same goes to each worker once: initializer= of the pool, or a global that is there before it is "
    "made. With a bound method its whole object is sent with each task; larger chunks (chunksize=) send it less often, "
    "and arrays in shared memory are not sent at all."
)
_RECEIVES = (
    "What workers give back is pickled, sent through a pipe and put together anew, in this process too: have them "
    "write arrays into shared memory (multiprocessing.shared_memory, or tensors of PyTorch with "
    "torch.multiprocessing) and give back their place, send smaller numbers (uint8, float16, what is made larger "
    "later), or let a DataLoader with workers do it."
)
_FOR_WORKERS = "waiting for processes that work for it"
_OF_WORKERS = (
    "That line runs in the workers that the loop waits for: make it cheaper, or have more of them work at a time if "
    "cores are free; ask for batches ahead of their use (imap, apply_async), those of the next epoch too."
)
_UNKNOWN = (
    "See what the line waits for: a pause (sleep), a lock that another thread holds while it sleeps or works, the "
    "network, a disk, another program. A queue.Queue hands batches over without pauses."
)


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where the loop's thread stands for a good part of its steps under a line of the script's."""
    share = share_of_steps(case)
    stood = standing.of_phases(case, _PATHS) if share >= _SHARE_OF_LOOP else None
    if stood is None:
        return
    line = line_of(case)
    told = _doing(case, line)
    sent, received = _handed_over(case, stood)
    work = own_processes.work_for(case, _PATHS, line) if stood.others >= _CHILDREN else ()
    told = _FOR_WORKERS if work else told
    others = interpreter_waits.contention(case) if told is None else None
    if others is not None and others.share >= _FOR_OTHERS * share:
        return  # that is a cause of its own
    flushed = chores.FLUSHED if told is None and chores.flushes(case, line) else None
    yield Claim(
        Sentence(
            f"The training loop stands still for {100 * share:.0f} % of its steps{f', {told}' if told else ''}"
            f"{_meanwhile(stood, sent, received, work)}:"
        ),
        _takes(case, max(share, _starting(case, line) if told == doing.FOR_A_PROCESS else 0.0)),
        [queries.python_stood(Phase.FIT_STEPS)],
        flushed.advice if flushed else _todo(told, sent, received),
        (work[0].file, work[0].line) if work and sent is None and received is None else line,
        title=flushed.title if flushed else _TITLE,
        support=case.code.support(
            _PATHS,
            lambda sample: may_wait(case, sample),
            ground=Ground.PLACE if told is None and flushed is None else Ground.REPEATED,
            part=share,
            usual=_USUAL,
        ),
        fix=flushed.fix if flushed else None,
    )


def _takes(case: Case, share: float) -> dict[TreePath, int]:
    """What the waits are of the steps; of a pair as much as they are longer than the other run's, as far as steps are.

    A share of the steps says nothing of a difference of two runs: waits may be half of the steps, and all of that. They
    are taken first out of the parts in which no operator runs.
    """
    if case.other is None:
        return case.takes(*_PATHS, share=share)
    more = share * case.own(Tree.FIT_STEPS) - share_of_steps(case.other) * case.other.own(Tree.FIT_STEPS)
    return case.filled(max(0.0, more), *(Tree.FIT_STEPS / part for part in _STANDS_IN), *_PATHS)


def share_of_steps(case: Case) -> float:
    """Share of the steps of the script's own loops in which its line waits; 0: it does not, or that is not known."""
    stood = standing.of_phases(case, _PATHS)
    if loops.are_all_of_keras(case.run) or not case.code.samples or stood is None:
        return 0.0
    quiet = standing.outside_operators(case)
    stands = stood.share if quiet is None else min(max(stood.share, quiet.stood), quiet.lasts)
    line = line_of(case)
    # The line that is named must stand for it: a thread that hands its core over in many lines waits in none of them.
    return min(stands, case.code.share(_PATHS, lambda one: may_wait(case, one) and case.code.user_line(one) == line))


def is_claimed(case: Case) -> bool:
    """Whether that is a cause of its own."""
    return share_of_steps(case) >= _SHARE_OF_LOOP


def may_wait(case: Case, sample: Sample) -> bool:
    """Whether the script's own line, or a library in which threads wait, is what a stack stands in, and no engine.

    A line that asks an engine's loader for batches waits for that: also where the loader is taken down, which leaves no
    frame.
    """
    if case.code.turns_a_loop(sample):
        return False
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return not (case.code.is_import(frame.file, frame.line) or case.code.calls_compiled(sample))
        if frame.file.startswith(combined.folders_with_keras()):
            return False
    return False


def line_of(case: Case) -> SourceLine | None:
    """The line that waits: one whose stacks are known to, where there are such; else the one that stood longest."""
    known = case.code.hottest_line(_PATHS, _is_known_wait)
    return known or case.code.hottest_line(_PATHS, lambda sample: may_wait(case, sample))


def _is_known_wait(sample: Sample) -> bool:
    return sample.frames[0].file.startswith(doing.WAITS)


def _doing(case: Case, line: SourceLine | None) -> str | None:
    """What the stacks below a line tell for most of their time."""
    times: dict[str | None, int] = {}
    for sample in case.code.samples:
        if sample.main and sample.phase == Tree.FIT_STEPS and line is not None and case.code.user_line(sample) == line:
            told = doing.of_stack(sample.frames, case.code.user_files, case.engine)
            times[told] = times.get(told, 0) + sample.dur_ns
    return max(times, key=lambda told: times[told], default=None)


def _starting(case: Case, line: SourceLine | None) -> float:
    """Share of the steps in which a line starts a process and waits for it: without that process nothing of it stays.

    To start one copies the tables of the whole training's memory, which is work, and no wait.
    """
    return case.code.share(
        _PATHS,
        lambda sample: (
            case.code.user_line(sample) == line
            and any(frame.file.startswith(doing.STARTS_PROCESSES) for frame in sample.frames)
        ),
    )


def _handed_over(case: Case, stood: Standing) -> tuple[int | None, int | None]:
    """Bytes that its processes are sent in each step, and bytes that they send; None: little, or not known."""
    if stood.others < _CHILDREN:
        return None, None
    return handed_over.sent_bytes(case), handed_over.received_bytes(case)


def _todo(told: str | None, sent: int | None, received: int | None) -> str:
    """What to do, by what the line waits for and what the processes hand over."""
    if sent is not None and sent >= (received or 0):
        return SENDS
    if received is not None:
        return _RECEIVES
    return _OF_WORKERS if told == _FOR_WORKERS else _ADVICE.get(told or "", _UNKNOWN)


def _meanwhile(stood: Standing, sent_bytes: int | None, received_bytes: int | None, work: Sequence[TopLine]) -> str:
    if stood.others < _CHILDREN:
        return ""
    sends = f" and are sent {units.size(sent_bytes)} a step" if sent_bytes is not None else ""
    stands = f" and stand most at {own_processes.shown(work)} of their samples" if work else ""
    gives = f" and send back {units.size(received_bytes)} a step" if received_bytes is not None else ""
    return f", while processes that it started use {stood.others:.1f} cores{sends}{gives}{stands}"


_CHILDREN = 0.2
"""Cores that the program's other processes use meanwhile, to be worth a word."""
