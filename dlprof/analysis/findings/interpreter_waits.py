"""How much of what stacks show of a thread it ran, where other threads of the program run Python at the same time.

One of them has the interpreter, the others wait for it wherever they come back from C: a stack is that of a line which
computes, or converts something, and nothing of that goes on. The thread neither has a core nor wants one then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dlprof.analysis import samples
from dlprof.analysis.columns import integers
from dlprof.analysis.findings import doing, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.samples import Sample
from dlprof.engines import combined
from dlprof.schema.tree_paths import Tree

_PATHS = (Tree.FIT_STEPS,)
_AT_REST = (*doing.WAITS, "<frozen importlib")
_BESIDE = 0.2
"""Of the steps: other threads stand in Python for so long, and have cores for so long, to take the interpreter."""
_MAY_WAIT = re.compile(
    r"\b(sleep|acquire|wait|join|get|put|recv|poll|select|accept|read|result|synchronize)(?!_nowait)\w*\("
    r"|^\s*with\s+[\w.]+\s*:"
)
"""Calls that may wait in C, below which no frame tells of it; and locks."""
_STANDS_IN = frozenset(
    ("wait", "wait_for", "acquire", "join", "_wait_for_tstate_lock", "select", "poll", "accept", "recv", "recv_into",
     "readinto", "read", "_recv", "_poll", "_try_wait", "result", "mainloop", "dooneevent")
)  # fmt: skip
"""Functions of libraries that a thread stands in while it waits; what is around them looks, and goes on."""


@dataclass(frozen=True)
class Contention:
    """Threads that run Python while the thread of the steps does not.

    Attributes:
        share: Share of the steps for which that neither had a core nor wanted one, waited for nothing that is known,
            and for which the others had the interpreter: 0 to 1, at least.
        beside: Share of the steps in which others stand in Python.
        line: The line of the script's in which they stand most; None: they are in none of its files.
        is_traced: Kernels were traced: when operators run, for which a thread may wait, is known.
        queued: Share of the steps for which it wanted a core and had none, as far as the main thread's Python took it.
        is_main: Most of that Python is the main thread's, which waits for the end of the training, or shows how far
            it is.
    """

    share: float
    beside: float
    line: SourceLine | None
    is_traced: bool
    queued: float = 0.0
    is_main: bool = False


def contention(case: Case) -> Contention | None:
    """How the thread of the steps waits for others that have the interpreter; None: nothing tells of that."""
    return case.run.once("waits for the interpreter", lambda _run: _contention(case))  # two rules ask


def _contention(case: Case) -> Contention | None:
    stood = standing.of_phases(case, _PATHS)
    others, main = _python_of_others(case), _python_of_main(case)
    beside, cores = min(1.0, others + main), _cores_beside(case)
    if stood is None or min(beside, cores) < _BESIDE:
        return None
    quiet = standing.outside_operators(case)
    still = 0.0 if quiet is None else quiet.lasts - quiet.ran
    if not case.kernels.has_gpu:
        # Operators may seem to last while their thread waits for the interpreter. Those that it waits for run on cores
        # that no Python has: one thread at a time.
        still = max(still, 1 - stood.ran - max(0.0, cores - beside))
    still -= case.code.share(_PATHS, lambda sample: _may_wait(case, sample))
    is_main = main > others
    line = case.code.line_of(_busy_main(case) if is_main else _busy_others(case))
    queued = _queued(case) * min(1.0, main / (cores + case.machine.scheduling.others_pct / 100)) if is_main else 0.0
    return Contention(max(0.0, min(still, beside, cores)), beside, line, quiet is not None, queued, is_main)


def _may_wait(case: Case, sample: Sample) -> bool:
    """Whether a stack stands in a library in which threads wait, or in a line of the script's that may, in C."""
    top = sample.frames[0]
    if top.file not in case.code.user_files:
        return top.file.startswith(doing.WAITS)
    return _MAY_WAIT.search(case.code.source(top.file, top.line)) is not None


def running(case: Case, waits: Callable[[Sample], bool]) -> float:
    """Share of its samples in the steps in which a line ran, while no operator did; 1: nothing speaks against all.

    Args:
        case: The run.
        waits: Samples in which the thread is known to wait for something else.
    """
    stood = standing.of_phases(case, _PATHS)
    if stood is None or not others_run_python(case):
        return 1.0
    quiet = standing.outside_operators(case)
    ran, lasts = (stood.ran, 1.0) if quiet is None else (quiet.ran, quiet.lasts)
    left = lasts - case.code.share(_PATHS, waits)
    return min(1.0, ran / left) if left > 0 else 1.0


def others_run_python(case: Case) -> bool:
    """Whether other threads of the process stand in Python, and something in it has a core beside the thread."""
    return _python_of_others(case) + _python_of_main(case) >= _BESIDE and _cores_beside(case) >= _BESIDE


def _python_of_others(case: Case) -> float:
    """Share of the steps in which another thread stands in Python."""
    return case.code.share(_PATHS, lambda sample: _is_python(case, sample), main=False)


def _python_of_main(case: Case) -> float:
    """Share of the steps in which the main thread stands in Python, and waits for nothing, while another one trains."""
    whole = sum(case.tree.time(path) for path in _PATHS)
    return min(1.0, sum(sample.dur_ns for sample in _busy_main(case)) / whole) if whole else 0.0


def _busy_others(case: Case) -> Iterator[Sample]:
    inside = (one for one in case.code.samples if not one.main and _is_in_steps(one))
    return (one for one in inside if _is_python(case, one))


def _busy_main(case: Case) -> Iterator[Sample]:
    """Stacks of the main thread beside a training that are no wait: it looks again and again, or works."""
    return (one for one in case.code.beside if _is_in_steps(one) and not _is_wait(case, one))


def _is_in_steps(sample: Sample) -> bool:
    return any(path.holds(sample.phase) for path in _PATHS)


def _is_wait(case: Case, sample: Sample) -> bool:
    """Whether a stack of the main thread stands in a wait, in the engine, or in a line that may wait in C."""
    top = sample.frames[0]
    if top.file in case.code.user_files:
        return _MAY_WAIT.search(case.code.source(top.file, top.line)) is not None
    return top.name in _STANDS_IN or top.file.startswith((*combined.folders_with_keras(), "<frozen importlib"))


def _is_python(case: Case, sample: Sample) -> bool:
    """Whether a thread stands in Python that no operator of the steps has called: for that one they wait by nature."""
    if samples.is_callback(sample) or (samples.is_operator(sample) and case.kernels.call_python_for_layers):
        return False
    file = sample.frames[0].file
    return file in case.code.user_files or not file.startswith((*combined.folders_with_keras(), *_AT_REST))


def _cores_beside(case: Case) -> float:
    """Cores that other threads of the process had or wanted in the steps, on average; 0: that is not known."""
    columns = ("main_run_ns", "main_wait_ns", "run_ns", "wait_ns")
    rows = case.machine.process_samples(*columns, around_ns=case.tree.wall_ns)
    time = integers(rows["time_ns"])
    own, whole = (
        np.diff(integers(rows[run]) + integers(rows[wait])) for run, wait in (columns[:2], columns[2:])
    )  # fmt: skip
    shared, length = standing.time_in(case, _PATHS, time), np.diff(time)
    # A thread that ends takes its part of the sums with it.
    known = (whole >= own) & (shared > 0)
    beside = (whole - own) * (shared / np.maximum(1, length))
    covered = int(shared[known].sum())
    return float(beside[known].sum()) / covered if covered else 0.0


def _queued(case: Case) -> float:
    """Share of the steps for which their thread could run and had no core; 0: that is not known."""
    rows = case.machine.process_samples("main_wait_ns", around_ns=case.tree.wall_ns)
    time, waited = integers(rows["time_ns"]), np.diff(integers(rows["main_wait_ns"]))
    shared, length = standing.time_in(case, _PATHS, time), np.diff(time)
    covered = int(shared.sum())
    return float((waited * (shared / np.maximum(1, length))).sum()) / covered if covered else 0.0
