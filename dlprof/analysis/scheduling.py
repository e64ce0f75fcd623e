"""How the traced process shared the cores with other programs, from counters that the kernel keeps of its threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, integers
from dlprof.schema.tree_paths import TreePath, root_of
from dlprof.schema.vocabulary import known_phase
from dlprof.store.run import Run

AROUND_NS = 1_500_000_000
"""Counters of the process are taken so long before and after the training: they are sampled once a second."""
_LATE_NS = 200_000_000
"""A sample of the machine that comes so late still speaks of the training."""
_SEEN = 0.7
"""Of a phase that lies to a smaller share between two samples it is not known what the main thread did."""
_STOLEN = 0.02
"""Less stolen time than this share is usual in a virtual machine."""
_NEVER = ((1 << 63) - 1, -(1 << 63))


@dataclass(frozen=True)
class Threads:
    """The threads of the traced process over a stretch of time.

    Attributes:
        run_ns: Time of all threads on a core.
        wait_ns: Time of all threads that could run and had no core.
    """

    run_ns: int
    wait_ns: int

    @property
    def waiting(self) -> float:
        """Share of the runnable time that was spent without a core."""
        return self.wait_ns / (self.run_ns + self.wait_ns) if self.run_ns + self.wait_ns else 0.0


@dataclass(frozen=True)
class MainThread:
    """What the main thread did in some phases (ns), by counters that are interpolated between samples.

    Attributes:
        run_ns: It was on a core.
        wait_ns: It could run, and had no core.
        stood_ns: It could not run: it waited for a disk, another process or a lock, or slept.
    """

    run_ns: int
    wait_ns: int
    stood_ns: int


def training_span(run: Run, wall_ns: int) -> tuple[int, int]:
    """From the first step's begin to the last one's end; the whole run where there was none."""
    begin, end = _NEVER
    for piece in run.pieces("steps", ("start_ns", "dur_ns")):
        start = integers(piece["start_ns"])
        begin = int(min(begin, start.min(initial=begin)))
        end = int(max(end, (start + integers(piece["dur_ns"])).max(initial=end)))
    return (begin, end) if (begin, end) != _NEVER else (0, wall_ns)


def process_samples(run: Run, span: tuple[int, int], column: str, *more: str, around_ns: int = AROUND_NS) -> pa.Table:
    """Samples of the traced process, without its children, around a stretch of time, where a column was measured.

    They have the columns `pid` and `time_ns`, that one, and those that are named besides.
    """
    begin, end = span
    pid = run.manifest.process.pid

    def keep(piece: pa.Table) -> pa.ChunkedArray:
        time = piece["time_ns"]
        inside = pc.and_(pc.greater_equal(time, begin - around_ns), pc.less_equal(time, end + around_ns))
        return pc.and_(pc.and_(pc.equal(piece["pid"], pid), pc.is_valid(piece[column])), inside)

    return run.filtered("process_samples", tuple(dict.fromkeys(("pid", "time_ns", column, *more))), keep)


def threads(run: Run, span: tuple[int, int]) -> Threads | None:
    """The threads of the process over a stretch of time; None: they were sampled less than twice."""
    rows = process_samples(run, span, "run_ns", "wait_ns")
    if rows.num_rows < 2:
        return None
    return Threads(growth_over_threads(integers(rows["run_ns"])), growth_over_threads(integers(rows["wait_ns"])))


def mean_of_machine(run: Run, span: tuple[int, int], column: str) -> float | None:
    """Mean of a column of `machine` over a stretch of time, of the whole run where none was sampled in it.

    A row counts by how much of the stretch it speaks of; the last one of a run may be short.
    """
    table = run.table("machine", ("time_ns", "interval_ns", column))
    table = table.filter(pc.is_valid(table[column]))
    if not table.num_rows:
        return None
    time, length = integers(table["time_ns"]), integers(table["interval_ns"])
    values = table[column].to_numpy().astype(float)
    inside = np.minimum(time, span[1] + _LATE_NS) - np.maximum(time - length, span[0])
    weights = inside.clip(0) if (inside > 0).any() else length
    return float(np.average(values, weights=weights)) if weights.any() else float(values.mean())


def counter_growth(run: Run, column: str) -> int | None:
    """By how much a counter of `machine` grew over the run (ns); None: this machine does not tell it."""
    values = integers(run.table("machine", (column,))[column].drop_null())
    return int(values[-1] - values[0]) if len(values) >= 2 else None


def held_back(run: Run) -> float | None:
    """Share of the time in which a quota held the process back; None: it is not known how long it ran.

    The kernel counts it on each core: of two threads that stop for a second it is two. So it is set against the time
    that they ran. By measurement, with a quota of one core and of half a core for two threads: 50 % and 79 % by this,
    53 % and 78 % by what the same took without a quota.
    """
    throttled = counter_growth(run, "throttled_ns")
    if not throttled:
        return 0.0
    told = run.manifest.process
    ran = (told.cpu_user_ns or 0) + (told.cpu_system_ns or 0)
    return throttled / (ran + throttled) if ran else None


def stolen(run: Run) -> float | None:
    """Share of the time of all cores that the host of a virtual machine took; None: it is not told, or usual."""
    known = [piece["steal_pct"].drop_null() for piece in run.pieces("cores", ("steal_pct",))]
    count, total = sum(len(column) for column in known), sum(pc.sum(column).as_py() or 0.0 for column in known)
    share = total / count / 100 if count else None
    return share if share is not None and share > _STOLEN else None


def growth_over_threads(values: Sequence[int] | Integers) -> int:
    """By how much a sum over the threads of a process grew: a thread that ends takes its part with it."""
    return int(np.maximum(0, np.diff(np.asarray(values, np.int64))).sum())


def main_thread(run: Run, place: TreePath) -> MainThread | None:
    """What the main thread did in the phases of a place of the tree; None: too little of them was sampled."""
    begins, ends = _intervals(run, place)
    times, ran, waited = _counters(run)
    whole_ns = int((ends - begins).sum())
    if len(times) < 2 or not whole_ns:
        return None
    begins, ends = (np.clip(edges, times[0], times[-1]) for edges in (begins, ends))
    seen_ns = int((ends - begins).sum())
    if seen_ns < _SEEN * whole_ns:
        return None
    run_ns, wait_ns = (
        int((np.interp(ends, times, counter) - np.interp(begins, times, counter)).sum()) for counter in (ran, waited)
    )
    scale = whole_ns / max(seen_ns, run_ns + wait_ns)
    run_ns, wait_ns = int(scale * run_ns), int(scale * wait_ns)
    return MainThread(run_ns, wait_ns, whole_ns - run_ns - wait_ns)


def _intervals(run: Run, place: TreePath) -> tuple[Integers, Integers]:
    """When the main thread was there: begins and ends."""
    table = run.table("phase_intervals", ("phase", "start_ns", "dur_ns"))
    names = pc.unique(table["phase"].cast(pa.string())).to_pylist()
    mine = [name for name in names if place.holds(root_of(known_phase(name)))]
    inside = table.filter(pc.is_in(table["phase"].cast(pa.string()), value_set=pa.array(mine, pa.string())))
    begins = integers(inside["start_ns"])
    return begins, begins + integers(inside["dur_ns"])


def _counters(run: Run) -> tuple[Integers, Integers, Integers]:
    """Moments, and the time that the main thread had run and waited by then; both were nothing when it began."""
    rows = process_samples(run, (0, _NEVER[0] - AROUND_NS), "main_run_ns", "main_wait_ns")
    times, ran, waited = (integers(rows[name].fill_null(0)) for name in ("time_ns", "main_run_ns", "main_wait_ns"))
    began = pc.min(run.table("phase_intervals", ("start_ns",))["start_ns"]).as_py()
    if not len(times) or began is None or began >= times[0]:
        return times, ran, waited
    return np.insert(times, 0, began), np.insert(ran, 0, 0), np.insert(waited, 0, 0)


def core_clock(run: Run) -> float | None:
    """The mean clock of cores that were busy (MHz); None: it was not measured."""
    cores = run.table("cores")
    busy = cores.filter(pc.greater(cores["busy_pct"], 50))["freq_mhz"].drop_null()
    return float(np.mean(busy.to_numpy())) if len(busy) else None
