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
from dlprof.store.ranked import Member
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
        others: Cores that programs used which are neither ranks nor started by them, on average; None: not sampled.
    """

    main_wait_ns: Mapping[int, int]
    wall_ns: Mapping[int, int]
    runnable: float
    running: float
    cores: int
    others: float | None = None

    @property
    def fills(self) -> bool:
        """Whether the ranks use the cores themselves: else what took them are other programs."""
        return len(self.main_wait_ns) > 1 and self.running >= _FILLED * self.cores


def of_ranks(members: Sequence[Member]) -> Contention:
    """What the ranks tell; none where threads were not looked at."""
    waits, walls, runnable, running, cores = {}, {}, 0.0, 0.0, 0
    hosts = [member.host for member in members]
    busiest = max(set(hosts), key=hosts.count, default="")
    beside = [one for one in members if one.host == busiest]
    for member in beside:
        own = _own_samples(member.run)
        if own.num_rows < 2:
            continue
        took = {name: _grown(own, name) for name in ("time_ns", "run_ns", "wait_ns", "main_wait_ns")}
        waits[member.rank], walls[member.rank] = took["main_wait_ns"], took["time_ns"]
        runnable += (took["run_ns"] + took["wait_ns"]) / max(1, took["time_ns"])
        running += took["run_ns"] / max(1, took["time_ns"])
        cores = max(cores, member.run.manifest.machine.at_once() or 0)
    others = _of_others([member.run for member in beside]) if _are_all(members) else None
    return Contention(waits, walls, runnable, running, cores, others)


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


def _are_all(members: Sequence[Member]) -> bool:
    """Whether no rank is missing, whose work would be that of others."""
    ranks = [one.run.manifest.rank for one in members]
    return all(one is None or (one.world or 0) <= len(members) for one in ranks)


def _of_others(runs: Sequence[Run]) -> float | None:
    """What no rank used of the machine, nor dlprof beside it, while they trained.

    Args:
        runs: All ranks of a machine: what each counts as used by others holds what the other ranks used.
    """
    used, others = ([_in_training(run, column) for run in runs] for column in ("cpu_pct", "others_cpu_pct"))
    told = [
        (all_ - rest, rest) for all_, rest in zip(used, others, strict=True) if all_ is not None and rest is not None
    ]
    if not told or len(told) < len(runs):
        return None
    together = sum(own for own, _ in told)
    return max(0.0, float(mean(rest - (together - own) for own, rest in told)) / 100)


def _in_training(run: Run, column: str) -> float | None:
    return scheduling.mean_of_machine(run, scheduling.training_span(run, run.wall_ns or 0), column)


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
