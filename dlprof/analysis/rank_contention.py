"""Whether the ranks of a machine have enough cores together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import integers
from dlprof.store.ranked import Member


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


def of_ranks(members: Sequence[Member]) -> Contention:
    """What the ranks tell; none where threads were not looked at."""
    waits, walls, runnable, running, cores = {}, {}, 0.0, 0.0, 0
    hosts = [member.host for member in members]
    busiest = max(set(hosts), key=hosts.count, default="")
    for member in (one for one in members if one.host == busiest):
        table = member.run.table("process_samples", ("pid", "time_ns", "run_ns", "wait_ns", "main_wait_ns"))
        pid = member.run.manifest.process.pid
        own = table.filter(pc.equal(table["pid"], pa.scalar(pid, pa.int32()))).sort_by("time_ns")
        own = own.filter(pc.is_valid(own["main_wait_ns"]))
        if own.num_rows < 2:
            continue
        took = {name: _grown(own, name) for name in ("time_ns", "run_ns", "wait_ns", "main_wait_ns")}
        waits[member.rank], walls[member.rank] = took["main_wait_ns"], took["time_ns"]
        runnable += (took["run_ns"] + took["wait_ns"]) / max(1, took["time_ns"])
        running += took["run_ns"] / max(1, took["time_ns"])
        machine = member.run.manifest.machine
        cores = max(cores, machine.usable_cores or machine.cores or 0)
    return Contention(waits, walls, runnable, running, cores)


def _grown(rows: pa.Table, name: str) -> int:
    """By how much a counter grew; threads that ended take theirs along, so a step back is none."""
    values = integers(rows[name])
    steps = values[1:] - values[:-1]
    return int(steps[steps > 0].sum())
