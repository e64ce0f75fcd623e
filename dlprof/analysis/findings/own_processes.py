"""Processes that a script started and waits for: what they used meanwhile, and where their own samples stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from dlprof.analysis import processes
from dlprof.analysis.findings import doing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.processes import ProcessSummary, TopLine
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame
from dlprof.analysis.stretches import Stretches
from dlprof.engines import combined
from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import ProcessRole, known_phase
from dlprof.units import duration, safe

MULTIPROCESSING = ("<python>/multiprocessing/", "<python>/concurrent/", "joblib/", "loky/")
"""Beginnings of the names of files that make workers, and wait for them."""
_MAKE = (*MULTIPROCESSING, "<python>/subprocess.py")
_WAITS_ITSELF = re.compile(r"\b(waitpid|waitid|wait3|wait4)\(|\bos\.(wait|system)\(")
"""Calls of the system in a line of the user's, which leave no frame of Python."""
_POOLS = ("<python>/multiprocessing/pool.py", "<python>/concurrent/")
"""Of these, such as there are for threads, too."""
_WORK = (("<python>/multiprocessing/pool.py", "worker"), ("<python>/concurrent/futures/thread.py", "_worker"))
"""Files and functions in which threads of pools work."""
_MOST = 0.5
"""Share of a line's samples that must wait for workers."""
_OF_THE_PHASES = 0.1
"""A worker lives for so much of the time in question."""
_ALIVE = 0.8
"""Share of the wait in which some of them must run, for it to be for them."""
_LEAST_OF_LINE = 0.1
"""Share of their samples from which on a line is named."""
_NAMED = 2
_HELPERS = ("multiprocessing resource tracker", "multiprocessing fork server")
"""What these are called that Python starts for itself."""


@dataclass(frozen=True)
class OwnProcesses:
    """What the main thread waits for.

    Attributes:
        share: Of the phases, in which it waits for them: 0 to 1.
        count: How many they are.
        cpu_ns: CPU time that they used in the phases, about (ns); None: not measured.
        top: The lines of the user's in which they stood most then; empty: they were not sampled, or stood in none.
        where: Where the script waits; None: no line of the user's is known.
    """

    share: float
    count: int
    cpu_ns: int | None
    top: tuple[TopLine, ...]
    where: SourceLine | None

    @property
    def told(self) -> str:
        """`3 processes that it started; they used 4.63 s of CPU time and stood most at train.py:12 (60 % of ...)`."""
        one = self.count == 1
        whom = "a process that it started" if one else f"{self.count} processes that it started"
        used = "" if self.cpu_ns is None else f"used {duration(self.cpu_ns)} of CPU time meanwhile"
        stood = f"stood most at {shown(self.top)} of {'its' if one else 'their'} samples" if self.top else ""
        does = [text for text in (used, stood) if text]
        return f"{whom}{'; ' + ('it ' if one else 'they ') + ' and '.join(does) if does else ''}"

    @property
    def line(self) -> SourceLine | None:
        """Where to look: their hottest line, else that where the script waits."""
        return (self.top[0].file, self.top[0].line) if self.top else self.where


def shown(top: Sequence[TopLine]) -> str:
    """The first lines with their shares: `train.py:12 (60 %) and train.py:14 (28 %)`."""
    return " and ".join(f"{safe(line.file)}:{line.line} ({100 * line.share:.0f} %)" for line in top[:_NAMED])


def started(case: Case) -> list[ProcessSummary]:
    """Processes below the program, but for those that Python and dlprof need for themselves."""
    below = (one for one in processes.of_run(case.run) if one.role is not ProcessRole.MAIN)
    return [one for one in below if one.name not in _HELPERS]


def waited_for(case: Case, paths: Sequence[TreePath]) -> OwnProcesses | None:
    """Those that the script waits for in some phases; None: none ran while it waited, or it waits for none.

    Args:
        case: The run.
        paths: The phases.
    """
    share = case.code.share(paths, lambda sample: waits(case, sample))
    below = started(case) if share else []
    if not below:
        return None
    wall_ns = case.tree.wall_ns
    ran = Stretches.of((one.start_ns or 0, wall_ns if one.end_ns is None else one.end_ns) for one in below)
    beside = case.phases.lookup.by_place(ran.times)
    if sum(beside.get(path, 0) for path in paths) < _ALIVE * share * sum(case.own(path) for path in paths):
        return None
    during = _during(case, paths)
    is_known = any(one.cpu_ns is not None for one in below)
    cpu_ns = round(case.machine.children_cores(during.begin, during.end) * during.ns) if is_known else None
    where = case.code.hottest_line(paths, lambda sample: waits(case, sample))
    return OwnProcesses(share, len(below), cpu_ns, _hot_lines(case, below, during), where)


def work_for(case: Case, paths: Sequence[TreePath], line: SourceLine | None) -> tuple[TopLine, ...]:
    """Where workers of multiprocessing stand that a line of the script's waits for; none: it waits for no such.

    Those that one step starts and the next one has no more are no workers: there it is the start that costs.

    Args:
        case: The run.
        paths: The phases.
        line: The line.
    """

    def waits_there(sample: Sample) -> bool:
        return case.code.user_line(sample) == line and waits(case, sample) and not _is_started(sample)

    stood = case.code.share(paths, lambda sample: case.code.user_line(sample) == line)
    if line is None or not stood or case.code.share(paths, waits_there) < _MOST * stood:
        return ()
    whole = sum(case.own(path) for path in paths)
    workers = [one for one in started(case) if (one.lifetime_ns or 0) >= _OF_THE_PHASES * whole]
    return _hot_lines(case, workers, _during(case, paths))


def _during(case: Case, paths: Sequence[TreePath]) -> Stretches:
    """When the program was in some phases."""
    rows = case.run.rows("phase_intervals")
    inside = (row for row in rows if any(path.holds(tree_paths.root_of(known_phase(row["phase"]))) for path in paths))
    return Stretches.of((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in inside)


def _hot_lines(case: Case, below: Sequence[ProcessSummary], during: Stretches) -> tuple[TopLine, ...]:
    """The user's lines in which some processes stood then, the hottest first, without those that hardly matter."""
    seen = processes.seen_together(case.run, {one.pid for one in below if one.run is None}, during)
    return tuple(line for line in seen if line.share >= _LEAST_OF_LINE)


def waits(case: Case, sample: Sample) -> bool:
    """Whether the main thread waits for a process, by what is on its stack above the user's innermost line.

    Pools of threads wait in the same files: where one works, who waits in these is not known to wait for a process.
    What an engine waits for, such as batches of its own loader, is the engine's, but for processes that it starts for
    the user.
    """
    if not sample.main:
        return False
    first = sample.frames[0]
    if first.file in case.code.user_files:
        return bool(_WAITS_ITSELF.search(case.code.source(first.file, first.line)))
    if not first.file.startswith(doing.WAITS):
        return False
    above = list(takewhile(lambda frame: frame.file not in case.code.user_files, sample.frames))
    made = [frame for frame in above if frame.file.startswith(_MAKE)]
    if any(_is_of_engine(frame) for frame in above) or not made:
        return False
    return not (all(frame.file.startswith(_POOLS) for frame in made) and _has_pool_of_threads(case))


def _is_of_engine(frame: Frame) -> bool:
    return frame.file.startswith(combined.folders_with_keras()) and not frame.file.startswith("torch/multiprocessing/")


def _is_started(sample: Sample) -> bool:
    return any(frame.file.startswith(doing.STARTS_PROCESSES) for frame in sample.frames)


def _has_pool_of_threads(case: Case) -> bool:
    """Whether a thread of the program itself works for a pool."""
    told: bool = case.run.once("pool of threads", lambda _run: any(_works_for_one(one) for one in case.code.samples))
    return told


def _works_for_one(sample: Sample) -> bool:
    return not sample.main and any((frame.file, frame.name) in _WORK for frame in sample.frames)
