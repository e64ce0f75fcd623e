"""The script stands still: it waits for something that is no work of its process, in its own code outside of Keras."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dlprof.analysis import training_threads
from dlprof.analysis.findings import (
    doing,
    followed_children,
    handed_over,
    own_evaluations,
    own_loop_waits,
    own_processes,
    queries,
    standing,
    waited_calls,
)
from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Rank, Sentence, SourceLine, Statement, Support
from dlprof.analysis.findings.followed_children import Children
from dlprof.analysis.findings.own_evaluations import Doing
from dlprof.analysis.findings.own_processes import OwnProcesses
from dlprof.analysis.findings.rules import iterator_restart, python_overhead
from dlprof.analysis.findings.sampled_code import Chosen
from dlprof.analysis.findings.standing import Standing
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.analysis.training_threads import Elsewhere
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Ground, Phase, RunSource
from dlprof.units import duration, safe, size

TITLE = Title("The script stood waiting", "waiting in the script")
_FOR_CHILDREN = Title(
    "The script waits for Pythons that have runs of their own", "waiting for Pythons that have runs of their own"
)
_FOR_RANKS = Title("The script waits for its ranks", "waiting for its ranks")
_FOR_OWN = Title("The script waits for processes that it started", "waiting for processes that the script started")
_FOR_THREAD = Title("The training ran on a thread that no phases are of", "a training on another thread")
_MAKES_RANKS = r"\b(init_process_group|distributed\.initialize|MultiWorkerMirroredStrategy)\("
_SENDS = Title("Much was sent to processes with their tasks", "sending arrays to processes")
_POOLS = ("<python>/multiprocessing/", "<python>/concurrent/")
_GIVES_TASKS = r"\.(apply(_async)?|i?map(_unordered|_async)?|starmap(_async)?|submit)\("
_NS_A_BYTE = 1.0
"""To pickle, write to a pipe, read and unpickle, each a copy: a guess; 5.2 GB took 7.1 s on a slow machine."""
_SHARE_OF_WORK = 0.05
_STOOD = 0.25
"""A thread that works hands its core over now and then, too."""
_CHILDREN = 0.5
"""Cores that the program's other processes use while it waits for them."""
_OTHER_THREADS = 0.1
"""Share of the time that is told, in all, that other threads must stand in the script's lines to be worth a word."""
_BESIDE = 0.5
"""Share of a wait for threads in which one must train, for it to be for that one."""
_NO_WORK = 0.05
"""So few cores are no work: what a resource tracker or an idle pool takes."""
_EVIDENCE = Query(
    "time of the main thread on a core, and waiting for one, from the process's start",
    "SELECT time_ns, main_run_ns, main_wait_ns FROM process_samples WHERE main_run_ns IS NOT NULL ORDER BY time_ns",
)

_CHILDREN_RAN = Query(
    "processes that it started, in the order of their time",
    "SELECT pid, command, start_ns, end_ns, cpu_ns FROM processes WHERE role <> 'main' ORDER BY end_ns - start_ns DESC",
)


def look(case: Case) -> Iterator[Claim]:
    """Stacks stand in the script's own code while its thread neither runs nor could."""
    in_trace = list(waited_calls.claims(case))
    if in_trace:
        yield from in_trace
        return
    case.code.need_samples()
    told = [*own_loop_waits.claims(case), *own_evaluations.claims(case, Doing.WAITING)]
    yield from told
    sending = _of_sending(case)
    if sending is not None:
        yield sending
        return
    elsewhere = _of_others(case)
    if elsewhere is not None:
        yield elsewhere
        return
    waited = _waited_for(case)
    if waited is not None:
        yield _for_its_own(case, waited)
    trained = _trained_elsewhere(case)
    if trained is not None:
        yield _for_training(case, trained)
    stood = standing.of_phases(case, python_overhead.SCRIPT)
    if stood is not None:
        away = (waited.share if waited is not None else 0.0) + (_of_threads(case) if trained is not None else 0.0)
        down = iterator_restart.taken_down(case)
        away += case.code.share(python_overhead.SCRIPT, down) if down is not None else 0.0
        yield from _standing(case, stood, min(1.0, away), _told_already(case, down, of_threads=trained is not None))
    elif not told and waited is None and trained is None:  # else what was said stays said
        raise Abstain("whether the script's thread was running was measured for too little of its own code")


def _told_already(case: Case, down: Chosen | None, *, of_threads: bool) -> Chosen:
    """Stacks of what is told already: waits for processes, for a thread that trains, for a pipeline that goes."""

    def chosen(sample: Sample) -> bool:
        if of_threads and doing.waits_for_thread(sample.frames):
            return True
        return own_processes.waits(case, sample) or (down is not None and down(sample))

    return chosen


def _standing(case: Case, stood: Standing, waited: float, is_told: Chosen) -> Iterator[Claim]:
    """It stands, and not for what is told already.

    Args:
        case: The run.
        stood: How its thread stands.
        waited: Share of its own code in which it waits for that.
        is_told: Stacks in which it does.
    """
    share = stood.share - waited
    is_own = python_overhead.of_no_engine()

    def chosen(sample: Sample) -> bool:
        return is_own(sample) and not (waited and is_told(sample))

    left = case.code.share(python_overhead.SCRIPT, chosen) / (1 - waited) if waited < 1 else 0.0
    takes = case.takes(*python_overhead.SCRIPT, share=share * min(1.0, left))
    if share < _STOOD or not _is_much(case, takes):
        return
    yield Claim(
        Sentence(
            f"The script stands still for {100 * share:.0f} % of its own code"
            f"{_beside(case, takes) or _meanwhile(case, stood)}:"
        ),
        takes,
        [_EVIDENCE, queries.python_stood(Phase.SCRIPT, Phase.DATA)],
        _advice(case, stood),
        case.code.hottest_line(python_overhead.SCRIPT, chosen),
        support=case.code.support(python_overhead.SCRIPT, chosen, agree=min(1.0, 2 * share)),
    )


def _is_much(case: Case, takes: Mapping[TreePath, int]) -> bool:
    return sum(takes.values()) >= _SHARE_OF_WORK * sum(case.own(top) for top in WORK)


def _of_others(case: Case) -> Claim | None:
    """What it waits for is told elsewhere, or can be: Pythons with runs of their own, or ranks of a training."""
    stood = standing.of_phases(case, python_overhead.SCRIPT)
    if stood is None or stood.share < _STOOD:
        return None
    is_own = python_overhead.of_no_engine()
    takes = case.takes(*python_overhead.SCRIPT, share=stood.share * case.code.share(python_overhead.SCRIPT, is_own))
    if not _is_much(case, takes):
        return None
    children = followed_children.waited_for(case) if not case.run.row_count("steps") else None
    if children is not None:
        return _for_children(children, takes, case.code.hottest_line(python_overhead.SCRIPT, is_own))
    if _starts_ranks(case):
        return _for_ranks(case.code.hottest_line(python_overhead.SCRIPT, is_own))
    return None


def _waited_for(case: Case) -> OwnProcesses | None:
    """Processes that it started and waits for, for a good part of its own code."""
    waited = own_processes.waited_for(case, python_overhead.SCRIPT)
    if waited is None or waited.share < _STOOD:
        return None
    return waited if _is_much(case, case.takes(*python_overhead.SCRIPT, share=waited.share)) else None


def _trained_elsewhere(case: Case) -> Elsewhere | None:
    """A training on another thread, for which the main one waits; None: there is none, or it waits without that."""
    waits = _of_threads(case)
    found = training_threads.of_run(case.run) if waits >= _STOOD else None
    if found is None:
        return None
    beside = case.phases.lookup.by_place(found.ran.times)
    whole = sum(case.own(path) for path in python_overhead.SCRIPT)
    return found if sum(beside.get(path, 0) for path in python_overhead.SCRIPT) >= _BESIDE * waits * whole else None


def _of_threads(case: Case) -> float:
    """Share of the script's own code in which the main thread waits for another one."""
    return case.code.share(python_overhead.SCRIPT, lambda sample: doing.waits_for_thread(sample.frames))


def _for_training(case: Case, trained: Elsewhere) -> Claim:
    """The main thread only waits: nothing is lost there, and what is lost in the training is not told by phases."""
    lines = training_threads.hot_lines(case.run, trained.threads)
    stood = f" That stood most at {own_processes.shown(lines)} of its samples." if lines else ""
    return Claim(
        Statement(
            f"The script only waits for {trained.where}, where {trained.steps:,} steps ran: phases are of another "
            f"thread, and do not tell them.{stood}",
            "",
        ),
        {},
        [_EVIDENCE, queries.python_stood(Phase.SCRIPT, Phase.DATA)],
        "See that line. To have the time of the training told by phases and causes, train on the main thread while you "
        "trace it, and leave what else there is to other threads.",
        (lines[0].file, lines[0].line) if lines else None,
        title=_FOR_THREAD,
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.STATED),
    )


def _for_its_own(case: Case, waited: OwnProcesses) -> Claim:
    """What it waits for was seen from outside: CPU time and sampled stacks of its processes."""
    at = f" at {safe(waited.where[0])}:{waited.where[1]}" if waited.where is not None else ""
    return Claim(
        Sentence(
            f"For {100 * waited.share:.0f} % of its own code the script waits{at} for {waited.told}: the wait takes"
        ),
        case.takes(*python_overhead.SCRIPT, share=waited.share),
        [_CHILDREN_RAN, queries.python_stood(Phase.SCRIPT, Phase.DATA)],
        _look_there(case, waited),
        waited.line,
        title=_FOR_OWN,
        support=case.code.support(
            python_overhead.SCRIPT, lambda sample: own_processes.waits(case, sample), ground=Ground.REPEATED
        ),
    )


def _look_there(case: Case, waited: OwnProcesses) -> str:
    """What to do about the processes that it waits for, by what is known of them."""
    if not waited.top:
        return _elsewhere(case)
    if case.run.manifest.followed is not None:
        return (
            "That line runs in the processes that the script waits for: what takes the time is there. Make it cheaper, "
            "or have more of them work at a time."
        )
    if case.code.share(python_overhead.SCRIPT, _is_multiprocessing) >= _STOOD:
        return (
            "That line runs in the processes that the script waits for: what takes the time is there. Make it cheaper, "
            "or have more of them work at a time. What they train is not looked into, but where they are ranks of one "
            "training (init_process_group, jax.distributed.initialize, MultiWorkerMirroredStrategy): dlprof trace "
            "--follow makes a run of each."
        )
    return (
        "That line runs in the processes that the script waits for: what takes the time is there. If they train, look "
        "into them: dlprof trace --follow makes a run of each Python that loads an engine."
    )


def _of_sending(case: Case) -> Claim | None:
    """The script waits in a library while it sends its processes much: a thread of its own packs that, and is busy."""
    sent = handed_over.sent_outside(case)
    waits = case.code.share(python_overhead.SCRIPT, _waits)
    if sent is None or waits < _STOOD:
        return None
    whole = case.takes(*python_overhead.SCRIPT, share=waits)
    ns = min(sum(whole.values()), int(sent * _NS_A_BYTE))
    if ns < _SHARE_OF_WORK * sum(case.own(top) for top in WORK):
        return None
    return Claim(
        Sentence(
            f"The script waits for processes that it started, and sends them {size(sent)} meanwhile, through pipes: to "
            "pack, send and unpack that takes about"
        ),
        {leaf: int(ns * part / sum(whole.values())) for leaf, part in whole.items()},
        [_EVIDENCE, queries.python_stood(Phase.SCRIPT, Phase.DATA)],
        own_loop_waits.SENDS,
        _line_of_tasks(case),
        title=_SENDS,
        basis=Basis.ESTIMATED,
        support=case.code.support(python_overhead.SCRIPT, _waits, ground=Ground.REPEATED),
        fix="Pool(n, initializer=keep, initargs=(array,)), where keep makes it a global of the worker",
    )


def _line_of_tasks(case: Case) -> SourceLine | None:
    """The one line that gives processes tasks, as far as the source tells; else the one that waits."""
    written = list(case.code.places(_GIVES_TASKS))
    return written[0] if len(written) == 1 else case.code.hottest_line(python_overhead.SCRIPT, _waits)


def _waits(sample: Sample) -> bool:
    """Whether a thread waits for processes that Python's own libraries made for it."""
    waits = sample.main and sample.frames[0].file.startswith(doing.WAITS)
    return waits and any(frame.file.startswith(_POOLS) for frame in sample.frames)


def _for_children(children: Children, takes: Mapping[TreePath, int], line: SourceLine | None) -> Claim:
    """Nothing of the script's own is slow: what it waits for is told elsewhere."""
    longest = children.longest.run
    return Claim(
        Sentence(f"The script only waits, while {children.told}:"),
        takes,
        [_EVIDENCE, _CHILDREN_RAN],
        f"What takes the time there its own run tells: dlprof diagnose RUN/{longest}; dlprof report RUN followed lists "
        "all of them.",
        line,
        title=_FOR_CHILDREN,
        support=Support(Ground.STATED),
    )


def _starts_ranks(case: Case) -> bool:
    """Whether it waits for processes that multiprocessing made, and its source joins processes to one training."""
    return (
        not case.run.row_count("steps")
        and not _is_followed(case)
        and case.run.manifest.followed is None
        and case.code.written(_MAKES_RANKS) is not None
        and case.code.share(python_overhead.SCRIPT, _is_multiprocessing) >= _STOOD
    )


def _for_ranks(line: SourceLine | None) -> Claim:
    """The training is in the ranks: nothing was lost in the script, as far as this run knows."""
    return Claim(
        Statement("The script only waits for ranks of a training that it started; what they do is not in this run"),
        {},
        [_EVIDENCE, _CHILDREN_RAN],
        "Look into the ranks: dlprof trace --follow makes a run of each, and compares them.",
        line,
        title=_FOR_RANKS,
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.STATED),
    )


def _meanwhile(case: Case, stood: Standing) -> str:
    if _is_followed(case):
        return ""
    if stood.others < _NO_WORK:
        return ", without work for a core in any of its processes"
    return f", while processes that it started use {stood.others:.{1 if stood.others >= _CHILDREN else 2}f} cores"


def _beside(case: Case, takes: Mapping[TreePath, int]) -> str:
    """Where other threads of the process itself stand in the script's lines meanwhile: it may wait for these."""
    stood: dict[SourceLine, int] = {}
    for sample in case.code.samples:
        line = case.code.user_line(sample)
        if sample.main or line is None or sample.phase not in takes or sample.frames[0].file.startswith(doing.WAITS):
            continue
        stood[line] = stood.get(line, 0) + sample.dur_ns
    most = sorted(stood.items(), key=lambda item: -item[1])[:2]
    told = [f"{safe(file)}:{line} for {duration(ns)}" for (file, line), ns in most]
    if sum(stood.values()) < _OTHER_THREADS * sum(takes.values()):
        return ""
    return f", while other threads of its own stand at {' and '.join(told)}"


def _is_followed(case: Case) -> bool:
    """Whether what it starts itself is looked at beside another run: that of the program that was followed."""
    return case.run.manifest.backend.source == RunSource.FOLLOWED


def _advice(case: Case, stood: Standing) -> str:
    if _is_followed(case):
        return (
            "See what the line waits for: a pause (sleep), a lock, the network, a disk, another program. What it "
            "started is told with the program that was followed, and Pythons among that may have runs beside this."
        )
    if stood.others < _CHILDREN:
        return "See what the line waits for: a pause (sleep), a lock, the network, a disk, another program."
    if not case.run.row_count("steps"):
        return _elsewhere(case)
    return "Have these processes work while the training runs, use more of them, or keep their results in a file."


def _elsewhere(case: Case) -> str:
    """What to do where the script trains nothing itself, and processes that it started are busy."""
    followed = case.run.manifest.followed
    if followed is not None and followed.runs:
        return "Some of them are Pythons that have runs of their own: dlprof report RUN followed lists them."
    if followed is not None:
        return (
            "Workers of multiprocessing that are no ranks of one training (init_process_group, "
            "jax.distributed.initialize, MultiWorkerMirroredStrategy) are not looked into: have them work while the "
            "script does, or use more of them."
        )
    if case.code.share(python_overhead.SCRIPT, _is_multiprocessing) >= _STOOD:
        return (
            "If these processes are ranks of one training (init_process_group, jax.distributed.initialize, "
            "MultiWorkerMirroredStrategy), look into them: dlprof trace --follow makes a run of each. Else have them "
            "work while the script does, or use more of them."
        )
    return (
        "If these processes train, look into them: dlprof trace --follow makes a run of each Python that loads an "
        "engine. Else have them work while the script does, or use more of them."
    )


def _is_multiprocessing(sample: Sample) -> bool:
    return any(frame.file.startswith("<python>/multiprocessing/") for frame in sample.frames)
