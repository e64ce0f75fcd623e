"""Trainings that ran on threads of which no phases are."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import processes, program
from dlprof.analysis.columns import integers
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.analysis.processes import TopLine
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import MAIN_THREAD, RunState, SpanKind
from dlprof.store.run import Run


@dataclass(frozen=True)
class Elsewhere:
    """Trainings beside the thread that phases are of (`phase_threads`).

    Attributes:
        threads: Names of these.
        ran: When the trainings ran.
        steps: How many steps they had, over all loops in them.
    """

    threads: tuple[str, ...]
    ran: Stretches
    steps: int

    @property
    def where(self) -> str:
        """`the thread Thread-1 (work)`."""
        return f"the thread{'s' * (len(self.threads) > 1)} {', '.join(self.threads)}"


def of_run(run: Run) -> Elsewhere | None:
    """Trainings of a traced run that ran elsewhere; None: there are none with steps, or nothing tells a main one."""
    return run.once("trainings on other threads", _of_run)


def _of_run(run: Run) -> Elsewhere | None:
    if run.manifest.state == RunState.IMPORTED:
        return None
    columns = ("kind", "thread", "thread_id", "start_ns", "dur_ns")
    rows = run.chosen("spans", "kind", (SpanKind.FIT, SpanKind.SCRIPT), columns)
    main = {row["thread_id"] for row in rows if row["kind"] == SpanKind.SCRIPT}  # whatever it calls itself
    named = [row for row in rows if row["kind"] == SpanKind.FIT and row["thread"] not in (None, "", MAIN_THREAD)]
    known = PhaseThreads(next(iter(main), None), run.manifest.phase_threads)
    fits = [row for row in named if row["dur_ns"] and row["thread_id"] not in main and not known.has(row)]
    numbers = {row["thread_id"] for row in fits}
    steps = _steps(run, numbers, known) if fits else 0
    if not steps:
        return None
    ran = Stretches.of((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in fits)
    return Elsewhere(tuple(dict.fromkeys(row["thread"] for row in fits)), ran, steps)


def _steps(run: Run, threads: set[int], known: PhaseThreads) -> int:
    """How many steps some threads made while they did not have the phases."""
    wanted, found = pa.array(sorted(threads), pa.int64()), 0
    for piece in run.pieces("steps", ("thread_id", "start_ns", "count")):
        beside = pa.array(~known.begin(piece))
        own = piece.filter(pc.and_(pc.is_in(piece["thread_id"], wanted), beside))
        found += int(integers(own["count"]).sum()) if own.num_rows else 0
    return found


def hot_lines(run: Run, threads: tuple[str, ...]) -> tuple[TopLine, ...]:
    """Lines of the program in which some of its threads stood, the hottest first, with their shares of all of that."""
    stood: dict[int, int] = defaultdict(int)
    names = pa.array(threads, pa.string())
    for piece in program.pieces_of(run, "stacks", ("pid", "thread", "dur_ns", "stack_id")):
        own = piece.filter(pc.is_in(piece["thread"].cast(pa.string()), names))
        for stack, ns in zip(integers(own["stack_id"]).tolist(), integers(own["dur_ns"]).tolist(), strict=True):
            stood[stack] += ns
    return processes.top_lines(run, stood)
