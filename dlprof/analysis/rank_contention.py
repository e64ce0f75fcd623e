"""Whether the ranks of a machine have enough cores together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import scheduling
from dlprof.analysis.columns import integers
from dlprof.store.ranked import Member, RankedRun
from dlprof.store.run import Run

_FILLED = 0.8
"""Share of the cores."""


@dataclass(frozen=True)
class Contention:
    """What samples of the ranks' own processes tell, on the machine that most of them ran on.

    Attributes:
        main_wait_ns: Rank to the time in which its main thread could run and had no core (ns).
        wall_ns: Rank to the time that this is of (ns).
        runnable: Threads of all of them that could run at a time, with a core or without, on average.
        running: Those of them that had one.
        cores: Cores that they might use.
    """

    main_wait_ns: Mapping[int, int]
    wall_ns: Mapping[int, int]
    runnable: float
    running: float
    cores: int

    @property
    def fills(self) -> bool:
        """Whether the ranks use the cores themselves: else what took them are other programs."""
        return len(self.main_wait_ns) > 1 and self.running >= _FILLED * self.cores


def of_ranks(members: Sequence[Member]) -> Contention:
    """What the ranks tell; none where threads were not looked at."""
    waits, walls, runnable, running, cores = {}, {}, 0.0, 0.0, 0
    for member in _on_one_machine(members):
        own = _own_samples(member.run)
        if own.num_rows < 2:
            continue
        took = {name: _grown(own, name) for name in ("time_ns", "run_ns", "wait_ns", "main_wait_ns")}
        waits[member.rank], walls[member.rank] = took["main_wait_ns"], took["time_ns"]
        runnable += (took["run_ns"] + took["wait_ns"]) / max(1, took["time_ns"])
        running += took["run_ns"] / max(1, took["time_ns"])
        cores = max(cores, member.run.manifest.machine.at_once() or 0)
    return Contention(waits, walls, runnable, running, cores)


def waiting_share(run: Run, begin_ns: int, end_ns: int) -> float | None:
    """Share of a time in which a run's main thread could run and had no core, 0 to 1, by the samples around it.

    Args:
        run: The run.
        begin_ns: Where it begins on the run's timeline (ns).
        end_ns: Where it ends.

    Returns:
        The share; None where threads were not looked at then.
    """
    own = _own_samples(run)
    times = integers(own["time_ns"])
    if own.num_rows < 2 or end_ns <= begin_ns or times[0] > end_ns or times[-1] < begin_ns:
        return None
    low, high = max(begin_ns, int(times[0])), min(end_ns, int(times[-1]))
    waited = np.interp([low, high], times, integers(own["main_wait_ns"]))
    return min(1.0, max(0.0, float(waited[1] - waited[0]) / max(1, high - low)))


def of_others(ranked: RankedRun) -> float | None:
    """Cores that programs used while the ranks trained, other than these, what they started, and dlprof beside them.

    Args:
        ranked: The run: what each rank counts as used by others holds what the other ranks used.

    Returns:
        Of the machine that most of them ran on, on average; None: not sampled, or a rank is missing, whose work would
        be that of others.
    """
    runs = [member.run for member in _on_one_machine(ranked.members)]
    told = [_used(run) for run in runs]
    known = [(used - others, others) for used, others in told if used is not None and others is not None]
    if ranked.missing or not known or len(known) < len(runs):
        return None
    together = sum(own for own, _ in known)
    return max(0.0, float(mean(others - (together - own) for own, others in known)) / 100)


def _used(run: Run) -> tuple[float | None, float | None]:
    """What all programs, and what others than this rank used while it trained, in percent of one core."""
    span = scheduling.training_span(run, run.wall_ns or 0)
    used, others = (scheduling.mean_of_machine(run, span, column) for column in ("cpu_pct", "others_cpu_pct"))
    return used, others


def _on_one_machine(members: Sequence[Member]) -> list[Member]:
    """The ranks of the machine that most of them ran on."""
    hosts = [member.host for member in members]
    most = max(set(hosts), key=hosts.count, default="")
    return [one for one in members if one.host == most]


def _own_samples(run: Run) -> pa.Table:
    """Samples of a run's own process that tell how long its threads waited for a core, by time."""
    table = run.table("process_samples", ("pid", "time_ns", "run_ns", "wait_ns", "main_wait_ns"))
    own = table.filter(pc.equal(table["pid"], pa.scalar(run.manifest.process.pid, pa.int32()))).sort_by("time_ns")
    return own.filter(pc.is_valid(own["main_wait_ns"]))


def _grown(rows: pa.Table, name: str) -> int:
    """By how much a counter grew; threads that ended take theirs along, so a step back is none."""
    values = integers(rows[name])
    steps = values[1:] - values[:-1]
    return int(steps[steps > 0].sum())
